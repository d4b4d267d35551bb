// The environment variables that llama.cpp's programs read.
#include <string>
#include <utility>
#include <vector>

#include "tests/program/spectr.h"

namespace spectr::test {
namespace {

using Variables = std::map<std::string, std::string>;

const Variables wrong = {{"LLAMA_ARG_PORT", "http"},
                         {"LLAMA_ARG_THREADS", "many"},
                         {"LLAMA_ARG_N_PARALLEL", "none"},
                         {"LLAMA_ARG_TOP_K", "-5"},
                         {"LLAMA_ARG_N_PREDICT", "x"},
                         {"LLAMA_ARG_CTX_SIZE", "all"},
                         {"LLAMA_ARG_SPEC_TYPE", "ngram"},
                         {"LLAMA_ARG_ENDPOINT_METRICS", "perhaps"},
                         {"LLAMA_ARG_SPEC_DRAFT_N_MAX", "some"}};

TEST(Variables, OfOneCommandMeanNothingToTheOthers) {
  for (const Arguments& command : {Arguments{"tokenize", "-m", target(), "-p", "Once"},
                                   {"law", "--method", "plain"},
                                   {"plan", "eval", "--plan", "k-seq"},
                                   {"lab", "list"},
                                   {"inspect", target()},
                                   {"--help"}}) {
    const Outcome ran = spectr(command, {.variables = wrong});
    EXPECT_EQ(ran.status, 0) << command[0] << ": " << ran.err;
  }
}

TEST(Variables, GiveWayToTheFlag) {
  const Arguments text = generate() + Arguments{"-p", "Once", "--method", "plain", "-n", "2"};
  const Variables threads = {{"LLAMA_ARG_THREADS", "many"}};
  EXPECT_EQ(spectr(text + Arguments{"-t", "1"}, {.variables = threads}).status, 0);
  expect_error(text, "many", {.variables = threads});
}

TEST(Variables, MayAskForTheDefaultOfThreads) {
  const Arguments text = generate() + Arguments{"-p", "Once", "--method", "plain", "-n", "2"};
  EXPECT_EQ(spectr(text, {.variables = {{"LLAMA_ARG_THREADS", "-1"}}}).status, 0);
  EXPECT_EQ(spectr(text + Arguments{"-t", "-1"}).status, 0);
  const Outcome bench = spectr({"bench", "tg", "-m", target(), "-n", "1", "-r", "1"},
                               {.variables = {{"LLAMA_ARG_THREADS", "-1"}}});
  EXPECT_EQ(bench.status, 0) << bench.err;
}

TEST(Variables, OfRefusedFlagsAreRefusedByName) {
  const std::string name = "LLAMA_ARG_SPEC_DRAFT_P_MIN";
  const Surroundings where = {.variables = {{name, "0.5"}}};
  expect_error(generate() + Arguments{"-p", "Once", "-n", "2"}, name + " is not supported", where);
  expect_error({"chat", "-m", target()}, name, where);
  expect_error({"serve", "-m", target()}, name, where);
  expect_error({"bench", "methods", "-m", target(), "-md", draft()}, name, where);
}

TEST(Variables, OfRefusedFlagsMayAskForNothing) {
  const Surroundings where = {
      .variables = {{"LLAMA_ARG_SPEC_TYPE", "none"}, {"LLAMA_ARG_SPEC_DRAFT_P_MIN", "0.0"}}};
  const Outcome ran = spectr(generate() + Arguments{"-p", "Once", "-n", "2", "--method", "plain"}, where);
  EXPECT_EQ(ran.status, 0) << ran.err;
}

TEST(Variables, OfLlamaCppAreReadWhereTheirFlagsExist) {
  const Arguments serve = {"serve", "-m", target(), "--port", "0"};
  const std::pair<const char*, const char*> cases[] = {
      {"LLAMA_ARG_API_KEY_FILE", "/nowhere/keys: No such file"},
      {"LLAMA_ARG_CHAT_TEMPLATE", "is no template in Jinja, and none of the names"},
      {"LLAMA_ARG_CHAT_TEMPLATE_FILE", "/nowhere/keys: No such file"},
      {"LLAMA_ARG_REPEAT_PENALTY", "--repeat-penalty"},
      {"LLAMA_ARG_PRESENCE_PENALTY", "--presence-penalty"},
      {"LLAMA_ARG_FREQUENCY_PENALTY", "--frequency-penalty"}};
  for (const auto& [name, reason] : cases) {
    const Outcome ran = spectr(serve, {.variables = {{name, "/nowhere/keys"}}});
    EXPECT_EQ(ran.status, 2) << name;
    EXPECT_THAT(ran.err, testing::HasSubstr(reason)) << name;
  }
  const Outcome help = spectr({"serve", "--help-all"});
  for (const char* name : {"LLAMA_ARG_ALIAS", "LLAMA_API_KEY", "LLAMA_ARG_API_KEY_FILE"})
    EXPECT_THAT(help.out, testing::HasSubstr(name));
}

TEST(Variables, ThatNoCommandReadsAreNamed) {
  const Arguments text = generate() + Arguments{"-p", "Once", "-n", "2", "--method", "plain"};
  const Outcome ran = spectr(text, {.variables = {{"LLAMA_ARG_MIRROR", "1"}, {"LLAMA_ARG_PORT", "80"}}});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, testing::HasSubstr("LLAMA_ARG_MIRROR is not understood, and changes nothing\n"));
  EXPECT_THAT(ran.err, testing::Not(testing::HasSubstr("LLAMA_ARG_PORT")));
}

TEST(Variables, OfFlagsThatAskForNothingAreSilent) {
  const Variables nothing = {{"LLAMA_ARG_FLASH_ATTN", "on"},   {"LLAMA_ARG_NO_MMAP", "1"},
                             {"LLAMA_ARG_BATCH", "1024"},      {"LLAMA_ARG_JINJA", "1"},
                             {"LLAMA_ARG_CONTEXT_SHIFT", "0"}, {"LLAMA_ARG_NO_CONTEXT_SHIFT", "1"},
                             {"LLAMA_ARG_N_CPU_MOE", "0"},     {"LLAMA_ARG_EMBEDDINGS", "1"}};
  const Arguments text = generate() + Arguments{"-p", "Once", "-n", "2", "--method", "plain", "--seed", "1"};
  const Outcome ran = spectr(text, {.variables = nothing});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, testing::Not(testing::HasSubstr("LLAMA_ARG_")));
}

TEST(Variables, OfFlagsThatAreNotObeyedAreNamedWithTheReason) {
  const Arguments text = generate() + Arguments{"-p", "Once", "-n", "2", "--method", "plain"};
  const Outcome ran = spectr(text, {.variables = {{"LLAMA_ARG_MLOCK", "1"}}});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, testing::HasSubstr("LLAMA_ARG_MLOCK: the model's memory is not locked\n"));
}

TEST(Variables, OfOlderReleasesAreReadUnderTheirNames) {
  const Arguments text = generate() + Arguments{"-p", "Once", "-n", "8", "--seed", "1", "--json"};
  const auto length = [&](const Variables& variables) {
    return Json::parse(spectr(text, {.variables = variables}).out)["stats"]["length"];
  };
  EXPECT_EQ(length({{"LLAMA_ARG_DRAFT_MAX", "3"}}), 3);
  EXPECT_EQ(length({{"LLAMA_ARG_DRAFT_MAX", "3"}, {"LLAMA_ARG_SPEC_DRAFT_N_MAX", "2"}}), 2);
}

TEST(Variables, SwitchMetricsByLlamaCppsWords) {
  const Arguments serve = {"serve", "-m", "/nowhere/model", "--port", "0"};
  for (const char* word : {"1", "on", "true", "enabled", "0", "off", "false", "disabled"}) {
    const Outcome ran = spectr(serve, {.variables = {{"LLAMA_ARG_ENDPOINT_METRICS", word}}});
    EXPECT_THAT(ran.err, testing::HasSubstr("/nowhere/model")) << word;
    EXPECT_THAT(ran.err, testing::Not(testing::HasSubstr("metrics"))) << word;
  }
  expect_error(serve, "perhaps", {.variables = {{"LLAMA_ARG_ENDPOINT_METRICS", "perhaps"}}});
}

}  // namespace
}  // namespace spectr::test
