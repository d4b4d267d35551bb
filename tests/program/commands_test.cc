// The output of the commands on which scripts rely.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/program/spectr.h"

namespace spectr {
namespace {

using namespace test;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::UnorderedElementsAre;

/// Returns the output of a command, which must succeed.
std::string output(const Arguments& arguments, const Surroundings& where = {}) {
  const Outcome ran = test::spectr(arguments, where);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return ran.out;
}

/// Returns stdout, which must be exactly one JSON object.
Json json(const Arguments& arguments, const Surroundings& where = {}) {
  const std::string text = output(arguments, where);
  EXPECT_THAT(text, StartsWith("{"));
  EXPECT_TRUE(text.ends_with("}\n"));
  return Json::parse(text);
}

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

/// Without these arguments a text depends on measured costs of passes.
const Arguments named = {"--method", "spectr", "-K", "2", "-L", "4"};

Arguments story(const Arguments& more = {}, const char* seed = "1") {
  return generate() + Arguments{"-p", "Once upon a time", "-n", "24", "--seed", seed, "--json"} + more;
}

TEST(Generate, ChoosesTheMethodByWhatIsGiven) {
  const auto method = [](const Arguments& flags) { return json(story(flags))["stats"]["method"]; };
  EXPECT_EQ(method({}), "auto");
  EXPECT_EQ(method({"-K", "2"}), "spectr");
  EXPECT_EQ(method({"-L", "2"}), "spectr");
  EXPECT_EQ(method({"--plan", "optimal"}), "spectr");
  EXPECT_EQ(method({"--tree", "2,2"}), "tree");
  EXPECT_EQ(method({"-md", draft()}), "auto");  // a second draft model
  EXPECT_EQ(method({"-md", draft(), "-K", "2"}), "specinfer");
  const Arguments alone = {"generate", "-m", target(), "-p", "Once", "-n", "4", "--json"};
  EXPECT_EQ(json(alone)["stats"]["method"], "plain");
  EXPECT_EQ(json(alone + Arguments{"-L", "2"})["stats"]["method"], "plain");
  EXPECT_EQ(json(alone + Arguments{"--method", "auto"})["stats"]["method"], "auto");
  expect_error(alone + Arguments{"-K", "2"}, "needs a draft model");
  expect_error(alone + Arguments{"--tree", "2,1"}, "needs a draft model");
  expect_error(generate() + Arguments{"-p", "Once", "--method", "auto", "--plan", "optimal"},
               "method auto has no plan to choose");
}

TEST(Generate, RepeatsAnAutomaticTextFromTheStoredCosts) {
  EXPECT_EQ(json(story())["tokens"], json(story())["tokens"]);
}

TEST(Generate, JsonHasTheFieldsOfTheContract) {
  const Json out = json(story({"--method", "spectr", "-K", "4", "-L", "4"}));
  EXPECT_THAT(keys(out),
              UnorderedElementsAre("text", "tokens", "token_sources", "stats", "stop_reason", "seed"));
  EXPECT_THAT(keys(out["stats"]),
              UnorderedElementsAre("method", "plan", "drafts", "length", "generated", "target_calls",
                                   "block_efficiency", "drafted", "accepted", "acceptance_rate",
                                   "acceptance_per_position", "perplexity", "seconds", "tokens_per_second",
                                   "bias_tv", "rejection"));
  EXPECT_THAT(keys(out["stats"]["seconds"]),
              UnorderedElementsAre("prompt", "draft", "target", "select", "total"));
  EXPECT_EQ(out["stats"]["method"], "spectr");
  EXPECT_EQ(out["stats"]["plan"], "k-seq");
  EXPECT_EQ(out["stats"]["drafts"], 4);
  EXPECT_EQ(out["stats"]["length"], 4);
  EXPECT_EQ(out["stats"]["bias_tv"], 0.0);
  EXPECT_EQ(out["seed"], 1);
  EXPECT_EQ(out["stop_reason"], "limit");
}

TEST(Generate, JsonAddsUp) {
  const Json out = json(story({"--method", "spectr"}));
  const Json& stats = out["stats"];
  EXPECT_EQ(out["tokens"].size(), 24u);
  EXPECT_EQ(out["token_sources"].size(), 24u);
  EXPECT_EQ(stats["generated"], 24);
  EXPECT_EQ(std::ranges::count(out["token_sources"], "draft"), stats["accepted"]);
  EXPECT_DOUBLE_EQ(stats["block_efficiency"].get<double>(), 24.0 / stats["target_calls"].get<double>());
  EXPECT_DOUBLE_EQ(stats["acceptance_rate"].get<double>(),
                   stats["accepted"].get<double>() / stats["drafted"].get<double>());
  double positions = 0.0;
  for (const Json& share : stats["acceptance_per_position"]) positions += share.get<double>();
  EXPECT_NEAR(positions * stats["target_calls"].get<double>(), stats["accepted"].get<double>(), 1e-9);
}

TEST(Generate, CompareAddsPlainDecoding) {
  const Json out = json(story({"--compare"}));
  EXPECT_THAT(keys(out["compare"]), UnorderedElementsAre("tokens_per_second", "speedup"));
  EXPECT_GT(out["compare"]["tokens_per_second"].get<double>(), 0.0);
  EXPECT_EQ(out["tokens"], json(story())["tokens"]);  // --compare changes no tokens
}

TEST(Generate, ProfileShowsTheOperationsOfBothModels) {
  const Arguments fixed = {"--method", "spectr", "-K", "2", "-L", "3"};  // else selected by measured costs
  const Json out = json(story(fixed + Arguments{"--profile"}));
  const Json& profile = out["profile"];
  EXPECT_THAT(keys(profile),
              UnorderedElementsAre("read_gbps", "integer_gops", "float_gops", "instruction_set", "models"));
  ASSERT_EQ(profile["models"].size(), 2u);
  EXPECT_EQ(profile["models"][0]["role"], "target");
  EXPECT_EQ(profile["models"][1]["role"], "draft");
  for (const Json& model : profile["models"]) {
    EXPECT_GE(model["passes"], out["stats"]["target_calls"]);
    double seconds = 0.0;
    for (const Json& operation : model["operations"]) {
      EXPECT_THAT(keys(operation), UnorderedElementsAre("name", "formats", "calls", "seconds", "bytes",
                                                        "products", "least_seconds"));
      seconds += operation["seconds"].get<double>();
    }
    EXPECT_NEAR(model["seconds"].get<double>(), seconds, 1e-9);
  }
  EXPECT_EQ(out["tokens"], json(story(fixed))["tokens"]);  // --profile changes no tokens
}

TEST(Generate, EveryMethodRuns) {
  for (const Arguments& method : every_method()) {
    const Json out = json(story(Arguments{"--method"} + method));
    EXPECT_EQ(out["stats"]["method"], method[0]);
    EXPECT_EQ(out["stats"]["generated"], 24) << method[0];
    const bool unknown = method[0] == "mtad" || method[0] == "mtjd" || method[0] == "bild";
    EXPECT_EQ(out["stats"]["bias_tv"].is_null(), unknown) << method[0];
    if (method[0].starts_with("biased")) {
      EXPECT_GT(out["stats"]["bias_tv"].get<double>(), 0.0);
    }
  }
}

TEST(Generate, LossyMethodsSaySo) {
  Arguments arguments = generate() + Arguments{"-p", "Once", "-n", "8", "--method"};
  EXPECT_THAT(test::spectr(arguments + Arguments{"mtad"}).err, HasSubstr("not the target's"));
  EXPECT_THAT(test::spectr(arguments + Arguments{"biased-opt", "--epsilon", "0.2"}).err,
              HasSubstr("total variation per token"));
  EXPECT_THAT(test::spectr(arguments + Arguments{"block"}).err, testing::Not(HasSubstr("bias")));
}

TEST(Generate, TextGoesToStdoutAndStatisticsToStderr) {
  const Arguments arguments =
      generate() + Arguments{"-p", "Once upon a time", "-n", "24", "--seed", "1"} + named;
  const Outcome ran = test::spectr(arguments);
  const Json out = json(story(named));
  EXPECT_EQ(ran.out, "Once upon a time" + out["text"].get<std::string>() + "\n");
  EXPECT_THAT(ran.err, HasSubstr("24 tokens"));
  EXPECT_THAT(ran.err, ContainsRegex("time .*; loading [0-9.]+"));
  EXPECT_THAT(ran.err, HasSubstr("seed        1"));
  EXPECT_EQ(output(arguments + Arguments{"--no-display-prompt"}), out["text"].get<std::string>() + "\n");
}

TEST(Generate, ShowHasThreeColoursAndALegend) {
  const Arguments arguments =
      generate() + Arguments{"-p", "Once upon a time", "-n", "40", "--seed", "1"} + named;
  const std::string shown = output(arguments + Arguments{"--show"});
  for (const char* word : {"draft", "correction", "bonus"}) EXPECT_THAT(shown, HasSubstr(word));
  // After its escape sequences are removed, it ends with the text itself.
  std::string bare;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (shown[i] == '\033') {
      i = shown.find('m', i);
    } else {
      bare += shown[i];
    }
  }
  const Json out = json(arguments + Arguments{"--json"});
  EXPECT_TRUE(bare.ends_with("Once upon a time" + out["text"].get<std::string>() + "\n"));
}

TEST(Generate, SameSeedSameTextForAnyThreads) {
  const Json one = json(story(named + Arguments{"-t", "1"})), two = json(story(named + Arguments{"-t", "2"}));
  EXPECT_EQ(one["tokens"], two["tokens"]);
  EXPECT_NE(json(story({"--method", "spectr"}, "2"))["tokens"], one["tokens"]);
}

TEST(Generate, ANegativeSeedIsRandomAndPrinted) {
  const Arguments random = {"generate", "-m", target(), "-p", "Once", "-n", "12", "--temp", "1.5", "--json"};
  const Json first = json(random + Arguments{"--seed", "-1"}), second = json(random + Arguments{"-s", "-1"}),
             third = json(random);
  EXPECT_NE(first["seed"], second["seed"]);
  EXPECT_NE(first["seed"], third["seed"]);
  const std::string seed = std::to_string(first["seed"].get<std::uint64_t>());
  EXPECT_EQ(json(random + Arguments{"--seed", seed})["tokens"], first["tokens"]);  // reproducible
}

TEST(Generate, ZeroTokensAreNoText) {
  for (const char* method : {"plain", "spectr", "block", "mtjd"}) {
    const Json out = json(generate() + Arguments{"-p", "Once", "-n", "0", "--json", "--method", method});
    EXPECT_EQ(out["text"], "");
    EXPECT_TRUE(out["tokens"].empty());
    EXPECT_EQ(out["stop_reason"], "limit");
    EXPECT_EQ(out["stats"]["target_calls"], 0);
  }
}

TEST(Generate, MinusOneGoesOnToTheEndOfTheContext) {
  const Json prompt = json({"tokenize", "-m", target(), "-p", "Once upon a time", "--json"});
  const Json out = json(
      generate() + Arguments{"-p", "Once upon a time", "-n", "-1", "-c", "60", "--ignore-eos", "--json"});
  EXPECT_EQ(out["tokens"].size() + prompt["tokens"].size(), 60u);
  EXPECT_EQ(out["stop_reason"], "context");
}

TEST(Generate, GoesOnBeyondWhatTheModelWasTrainedForAndSaysSo) {
  std::string story;
  for (int i = 0; i < 600; ++i) story += "dog ";
  const test::Outcome ran =
      test::spectr(generate() + Arguments{"-p", story, "-n", "2", "-c", "4000", "--ignore-eos", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err,
              HasSubstr("the context of 4000 tokens is longer than the 512 that the model was trained for"));
  EXPECT_EQ(Json::parse(ran.out)["tokens"].size(), 2u);
}

TEST(Generate, StopWordsEndTheTextBeforeThem) {
  const Arguments greedy = {"generate", "-m", target(), "-md", draft(),
                            "--temp",   "0",  "--json", "-p",  "Once upon a time, there was a little",
                            "-n",       "60"};
  const std::string text = json(greedy)["text"];
  ASSERT_THAT(text, HasSubstr("Lily"));
  for (const char* method : {"plain", "speculative", "spectr", "traversal"}) {
    const Json out = json(greedy + Arguments{"-r", "never there", "-r", "Lily", "--method", method});
    EXPECT_EQ(out["text"], text.substr(0, text.find("Lily"))) << method;
    EXPECT_EQ(out["stop_reason"], "word");
    EXPECT_EQ(out["tokens"].size(), out["stats"]["generated"]);
    EXPECT_EQ(out["tokens"].size(), out["token_sources"].size());
    // The terminal output does not contain the word, either.
    const Outcome shown = test::spectr({"generate", "-m", target(), "-md", draft(), "--temp", "0", "-p",
                                        "Once upon a time, there was a little", "-n", "60", "-r", "Lily",
                                        "--method", method, "--no-display-prompt"});
    EXPECT_EQ(shown.out, text.substr(0, text.find("Lily")) + "\n");
  }
  const Json two_words = json(greedy + Arguments{"--reverse-prompt", "ily. S"});
  EXPECT_EQ(two_words["text"], text.substr(0, text.find("ily. S")));
  EXPECT_EQ(json(greedy + Arguments{"-r", ""})["text"], text);  // an empty word does not stop
}

TEST(Generate, AliasesOfFlagsMeanTheSame) {
  const auto tokens = [](const Arguments& more) {
    return json(Arguments{"generate", "-m", target(), "-p", "Once", "-n", "20", "--seed", "3", "--json"} +
                more)["tokens"];
  };
  const Json expected = tokens({"-md", draft(), "-K", "3", "-L", "2"});
  EXPECT_EQ(tokens({"--model-draft", draft(), "-k", "3", "--length", "2"}), expected);
  EXPECT_EQ(tokens({"--spec-draft-model", draft(), "-K", "3", "--draft-max", "2"}), expected);
  EXPECT_EQ(tokens({"-md", draft(), "-K", "3", "--draft-n", "2"}), expected);
  EXPECT_EQ(tokens({"-md", draft(), "-K", "3", "--spec-draft-n-max", "2"}), expected);
  EXPECT_EQ(tokens({"-md", draft(), "-K3", "-L2"}), expected);
}

TEST(Generate, EnvironmentVariablesStandForFlags) {
  const Surroundings where = {.variables = {{"LLAMA_ARG_MODEL", target()},
                                            {"LLAMA_ARG_SPEC_DRAFT_MODEL", draft()},
                                            {"LLAMA_ARG_SPEC_DRAFT_N_MAX", "2"},
                                            {"LLAMA_ARG_N_PREDICT", "9"},
                                            {"LLAMA_ARG_CTX_SIZE", "100"},
                                            {"LLAMA_ARG_THREADS", "1"},
                                            {"LLAMA_ARG_TEMPERATURE", "0.5"},
                                            {"LLAMA_ARG_TOP_K", "7"},
                                            {"LLAMA_ARG_TOP_P", "0.9"},
                                            {"LLAMA_ARG_MIN_P", "0.01"}}};
  const Arguments short_form = {"generate", "-p", "Once", "--seed", "3", "--json"};
  const Json out = json(short_form, where);
  EXPECT_EQ(out["stats"]["length"], 2);
  EXPECT_EQ(out["tokens"], json({"generate", "-p",     "Once",    "--seed", "3",       "--json",
                                 "-m",       target(), "-md",     draft(),  "-L",      "2",
                                 "-n",       "9",      "-c",      "100",    "--temp",  "0.5",
                                 "--top-k",  "7",      "--top-p", "0.9",    "--min-p", "0.01"})["tokens"]);
  EXPECT_EQ(json(short_form + Arguments{"-n", "4"}, where)["tokens"].size(), 4u);  // the flag overrides it
}

TEST(Generate, UsesTheBundledPairFromAnyFolder) {
  const Json out =
      json({"generate", "-p", "Once upon a time", "-n", "8", "--seed", "1", "--json"}, {.folder = "/"});
  EXPECT_EQ(out["stats"]["method"], "auto");
  EXPECT_EQ(out["tokens"].size(), 8u);
}

TEST(Generate, PromptsAreTakenLiterally) {
  for (const char* prompt : {"-5 degrees", "--json", "[a, b]", "[INST] hi [/INST]", "{x: 1}", "%s %d {}",
                             "a=b", "\"quoted\"", "line\nbreak", " ", "-md", "--draft", "@file", "a,b,c"}) {
    const TemporaryFile file(prompt);
    const Json from_file = json({"tokenize", "-m", target(), "-f", file.path(), "--json"});
    EXPECT_EQ(json({"tokenize", "-m", target(), "-p", prompt, "--json"}), from_file) << prompt;
  }
  const Json out = json(generate() + Arguments{"-p", "Once", "-n", "5", "--json", "-r", "[END]", "-r", "-k"});
  EXPECT_EQ(out["tokens"].size(), 5u);
}

TEST(Tokenize, ReadsTheBytesOfAFile) {
  for (const std::string text : {"Hi", "Hi\n", "Hi\r\n\n", "\n", "caf\xc3\xa9", "a\xff\xfe"}) {
    const TemporaryFile file(text);
    const Json tokens = json({"tokenize", "-m", stranger(), "-f", file.path(), "--json"})["tokens"];
    EXPECT_EQ(tokens, json({"tokenize", "-m", stranger(), "-p", text, "--json"})["tokens"]) << text;
    std::string list;
    for (const Json& token : tokens) list += (list.empty() ? "" : ",") + token.dump();
    EXPECT_EQ(output({"detokenize", "-m", stranger(), "--tokens", list}), text + "\n");
  }
}

TEST(Tokenize, PutsTheBeginningInFrontUnlessToldNotTo) {
  EXPECT_EQ(output({"tokenize", "-m", target(), "-p", "Once upon a time"}), "1 403 407 261 378\n");
  EXPECT_EQ(output({"tokenize", "-m", target(), "-p", "Once upon a time", "--no-bos"}), "403 407 261 378\n");
  EXPECT_EQ(output({"detokenize", "-m", target(), "--tokens", "1, 403,407,261 ,378"}), "Once upon a time\n");
  EXPECT_EQ(output({"detokenize", "-m", target(), "--special", "--tokens", "1, 403,407,261 ,378,2"}),
            "<s>Once upon a time</s>\n");
  EXPECT_EQ(json({"tokenize", "-m", target(), "-p", "</s>", "--special", "--json"})["tokens"], Json({1, 2}));
}

TEST(Tokenize, WorksOnAVocabularyAlone) {
  const Json out = json({"tokenize", "-m", data("ggml-vocab-gpt-2.gguf"), "-p", "Hello world", "--json"});
  EXPECT_THAT(keys(out), ElementsAre("tokens"));
  EXPECT_EQ(out["tokens"], Json({15496, 995}));
}

TEST(Logits, PrintsAllOfTheLastPosition) {
  const Json out = json({"logits", "-m", target(), "--tokens", "1,403,407", "--json"});
  EXPECT_THAT(keys(out), UnorderedElementsAre("tokens", "logits"));
  EXPECT_EQ(out["tokens"], Json({1, 403, 407}));
  EXPECT_EQ(out["logits"].size(), 512u);
  EXPECT_THAT(output({"logits", "-m", target(), "--tokens", "1,403,407"}), HasSubstr("261"));  // "a"
}

TEST(Logits, MayBeOfALargerSession) {
  const Arguments ids = {"logits", "-m", target(), "--tokens", "1,403,407", "--json"};
  EXPECT_EQ(json(ids + Arguments{"-c", "512"}), json(ids)) << "this model's positions do not depend on it";
  expect_error(ids + Arguments{"-c", "2"}, "--tokens: 3 ids, but -c is 2");
  expect_error(ids + Arguments{"-c", "1000000"}, "1000000");
}

TEST(Generate, TakesThePromptAsIds) {
  const Arguments settings = {"-n", "8", "--seed", "1", "--json"};
  const Json by_ids = json(generate() + Arguments{"--tokens", "1,403,407,261,378"} + settings);
  EXPECT_EQ(by_ids["tokens"], json(generate() + Arguments{"-p", "Once upon a time"} + settings)["tokens"]);
  const Arguments shown = {"-n", "0", "--method", "plain", "--tokens", "1,403,407,261,378"};
  EXPECT_THAT(output(generate() + shown), StartsWith("Once upon a time"));
  expect_error(generate() + Arguments{"--tokens", "1", "-p", "a"}, "goes without -p");
  expect_error(generate() + Arguments{"--tokens", "100000"}, "outside the vocabulary");
}

TEST(Help, IsOnStdoutAndComplete) {
  const std::string all = output({"--help"});
  for (const char* command : {"generate", "tokenize", "detokenize", "logits", "perplexity", "inspect",
                              "check-pair", "law", "plan"}) {
    EXPECT_THAT(all, HasSubstr(command));
    EXPECT_THAT(output({command, "--help"}), HasSubstr(command));
  }
  EXPECT_THAT(output({"--version"}), StartsWith("spectr "));
}

}  // namespace
}  // namespace spectr
