// `spectr draft logits` prints the logits of a trained drafter.
#include <cmath>
#include <string>
#include <vector>

#include "tests/program/spectr.h"

namespace spectr::test {
namespace {

std::string drafter_data(const std::string& file) {
  return (source_folder() / "tests/data/drafters" / file).string();
}

Json figures_of(const std::string& name) {
  return Json::parse(std::ifstream(drafter_data(name + ".json")));
}

std::string joined(const Json& ids) {
  std::string list;
  for (const Json& id : ids) list += (list.empty() ? "" : ",") + std::to_string(id.get<int>());
  return list;
}

/// Returns the command for the first round of a case.
Arguments draft_logits(const std::string& name, const Json& figures) {
  const Json& round = figures["rounds"][0];
  Arguments command = {"draft",    "logits",
                       "-m",       drafter_data(figures["target"]),
                       "--tokens", joined(round["text"]) + "," + std::to_string(round["last"].get<int>()),
                       "--json"};
  if (!figures["drafter"].is_null()) command = command + Arguments{"-md", drafter_data(name + ".gguf")};
  return command;
}

std::string bundled_drafter(const std::string& kind) {
  return (source_folder() / "models/trained" / ("spectr-stories-7m-" + kind + "-q8_0.gguf")).string();
}

/// Returns the tokens per call of the bundled target, without filters, on openings that no drafter was
/// trained on.
double tokens_per_call(const std::string& drafter, const Arguments& method) {
  double tokens = 0.0, calls = 0.0;
  std::ifstream openings(source_folder() / "data/stories.jsonl");
  std::string line;
  for (int i = 0; i < 170 && std::getline(openings, line); ++i) {
    if (i < 150) continue;
    const Arguments run = {"generate",
                           "-m",
                           data("models/spectr-stories-7m-q8_0.gguf"),
                           "-md",
                           drafter,
                           "-p",
                           Json::parse(line)["prompt"],
                           "-n",
                           "64",
                           "--temp",
                           "1",
                           "--top-k",
                           "0",
                           "--top-p",
                           "1",
                           "--min-p",
                           "0",
                           "--seed",
                           std::to_string(i),
                           "-t",
                           "1",
                           "--json"};
    const Outcome ran = spectr(run + method);
    EXPECT_EQ(ran.status, 0) << ran.err;
    const Json stats = Json::parse(ran.out)["stats"];
    tokens += stats["generated"].get<double>();
    calls += stats["target_calls"].get<double>();
  }
  return tokens / calls;
}

Json printed(const Arguments& command) {
  const Outcome ran = spectr(command);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return Json::parse(ran.out);
}

void expect_logits(const Json& found, const Json& expected) {
  ASSERT_EQ(found.size(), expected.size());
  double difference = 0.0, norm = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += std::pow(found[i].get<double>() - expected[i].get<double>(), 2);
    norm += std::pow(expected[i].get<double>(), 2);
  }
  EXPECT_LE(std::sqrt(difference / norm), 1e-4);
}

TEST(DraftLogits, AreTheReferencesAlongTheGreedyDraft) {
  for (const std::string name :
       {"eagle3-d2t", "eagle3-shared", "dflash-8", "dspark-7", "mtp-qwen35", "assistant"}) {
    SCOPED_TRACE(name);
    const Json figures = figures_of(name), draft = figures["rounds"][0]["draft"];
    const auto steps = draft["ids"].size();
    const Json found = printed(draft_logits(name, figures) + Arguments{"-L", std::to_string(steps)});
    EXPECT_EQ(found["kind"], figures["kind"]);
    EXPECT_EQ(found["rows"], figures.value("d2t", Json()));
    EXPECT_EQ(found["ids"], draft["ids"]);
    ASSERT_EQ(found["steps"].size(), steps);
    const Json expected = draft.contains("chain") ? draft["chain"]["logits"] : draft["logits"];
    expect_logits(found["steps"][0]["logits"], expected[0]);
  }
}

TEST(DraftLogits, FollowAGivenPath) {
  const Json figures = figures_of("dspark-7"), forced = figures["rounds"][0]["draft"]["forced"];
  const Json found = printed(draft_logits("dspark-7", figures) + Arguments{"--path", joined(forced["ids"])});
  ASSERT_EQ(found["steps"].size(), forced["ids"].size());
  for (std::size_t i = 0; i < forced["ids"].size(); ++i) {
    EXPECT_NEAR(found["steps"][i]["log_q"].get<double>(), forced["log_q"][i].get<double>(), 1e-3);
    EXPECT_NEAR(found["steps"][i]["confidence"].get<double>(), forced["confidence"][i].get<double>(), 1e-4);
  }
}

TEST(DraftLogits, HaveAsManyStepsAsABlockPredictsUnlessToldOtherwise) {
  const Json figures = figures_of("dflash-8");
  const Arguments command = draft_logits("dflash-8", figures);
  EXPECT_EQ(printed(command)["steps"].size(), 7U);
  EXPECT_EQ(printed(command + Arguments{"-L", "2"})["steps"].size(), 2U);
  const Json expected = figures["rounds"][0]["short_block"];
  EXPECT_EQ(printed(command + Arguments{"--block-rows", "5"})["ids"], expected["ids"]);
  EXPECT_EQ(printed(draft_logits("eagle3-d2t", figures_of("eagle3-d2t")))["steps"].size(), 4U);
}

TEST(DraftLogits, RefuseWhatTheDrafterDoesNotHave) {
  const Arguments block = draft_logits("dflash-8", figures_of("dflash-8"));
  expect_error(block + Arguments{"-L", "8"}, "dflash-8.gguf: 8 steps are asked for, but a block has 7");
  expect_error(draft_logits("eagle3-d2t", figures_of("eagle3-d2t")) + Arguments{"--block-rows", "4"},
               "eagle3-d2t.gguf: a drafter of type eagle3 has no blocks, whose rows could be 4");
  const std::string target = drafter_data("target-llama.gguf");
  expect_error({"draft", "logits", "-m", target, "-md", target, "--tokens", "1,2"}, "is no trained drafter");
  expect_error({"draft", "logits", "-m", target, "--tokens", "1,2"}, "is no trained drafter");
  expect_error({"draft", "logits", "-m", target, "-md", drafter_data("eagle3-d2t.gguf"), "--tokens", "1"},
               "--tokens: a drafter reads the states before the last id");
  expect_error({"generate", "-m", target, "-md", drafter_data("eagle3-d2t.gguf"), "--spec-type",
                "draft-dflash", "-p", "a"},
               "eagle3-d2t.gguf: is of type draft-eagle3, but --spec-type names draft-dflash");
}

TEST(CheckPair, SaysWhatATrainedDrafterReads) {
  const std::string gemma = drafter_data("../arch2/gemma4/model.gguf"),
                    llama = drafter_data("target-llama.gguf"),
                    glm = drafter_data("../arch2/glm4moe/model-mtp.gguf");
  const auto check = [](const std::string& target, const std::string& drafter) {
    const Outcome ran = spectr({"check-pair", "-m", target, "-md", drafter});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.out;
  };
  EXPECT_THAT(check(gemma, drafter_data("assistant.gguf")),
              testing::HasSubstr(
                  "It is a trained drafter of type gemma4-assistant, which reads the final state and the "
                  "keys and values of layers 3, 4 of the target."));
  EXPECT_THAT(
      check(llama, drafter_data("eagle3-d2t.gguf")),
      testing::HasSubstr("of type eagle3, which reads the states before layers 1, 2, 4 of the target."));
  EXPECT_THAT(check(glm, glm), testing::HasSubstr("of type mtp, which reads the final state of the target."));
  expect_error(
      {"check-pair", "-m", llama, "-md", drafter_data("assistant.gguf")},
      "assistant.gguf: gemma4-assistant.attention.sliding_window is 8 in layer 0, but 0 in layer 3 of "
      "the target");
  expect_error({"check-pair", "-m", llama, "-md", drafter_data("eagle3-d2t.gguf"), "--measure"},
               "eagle3-d2t.gguf: is a trained drafter: --measure does not apply");
}

TEST(DraftLogits, BelongToADrafterThatGenerates) {
  const Arguments generate = {"generate",
                              "-m",
                              drafter_data("target-qwen3.gguf"),
                              "-md",
                              drafter_data("dflash-8.gguf"),
                              "--tokens",
                              "40,160,256,158",
                              "--temp",
                              "0",
                              "-n",
                              "24",
                              "--json"};
  const Json drafted = printed(generate + Arguments{"--method", "spectr", "-K", "2", "-L", "3"}),
             plain = printed(generate + Arguments{"--method", "plain"});
  EXPECT_EQ(drafted["tokens"], plain["tokens"]);
  EXPECT_GT(drafted["stats"]["drafted"].get<int>(), 0);
}

/// A folder with a target and files next to it, deleted by the destructor.
class DraftersNextToAModel : public testing::Test {
 protected:
  DraftersNextToAModel() {
    std::string name = testing::TempDir() + "spectr-drafters-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~DraftersNextToAModel() override { std::filesystem::remove_all(folder_); }

  std::string add(const std::string& file, const std::string& as) const {
    std::filesystem::copy_file(drafter_data(file), folder_ / as);
    return (folder_ / as).string();
  }
  Outcome generated(const std::string& target, const Arguments& more) const {
    const Arguments text = {"--tokens", "40,160,256,158", "-n", "8", "--seed", "1", "--json"};
    return spectr(Arguments{"generate", "-m", target} + text + more,
                  {.variables = {{"XDG_CACHE_HOME", folder_.string()}}});
  }
  static std::string method_of(const Outcome& ran) {
    EXPECT_EQ(ran.status, 0) << ran.err;
    return Json::parse(ran.out)["stats"]["method"];
  }

  std::filesystem::path folder_;
};

TEST_F(DraftersNextToAModel, AreUsedWhereAutoDecidesAndNamed) {
  const std::string target = add("target-qwen3.gguf", "Qwen3-Tiny-Q8_0.gguf"),
                    drafter = add("dflash-8.gguf", "dflash-Qwen3-Tiny.gguf");
  add("eagle3-d2t.gguf", "eagle3-Other.gguf");  // of another model
  const Outcome automatic = generated(target, {});
  EXPECT_EQ(method_of(automatic), "auto");
  EXPECT_THAT(automatic.err, testing::HasSubstr("drafts by " + drafter + " (draft-dflash)"));
  const Outcome named = generated(target, {"--spec-type", "draft-dflash", "--method", "block", "-L", "3"});
  EXPECT_EQ(method_of(named), "block");
  EXPECT_THAT(named.err, testing::HasSubstr("drafts by " + drafter));
  for (const Arguments& plainly : {Arguments{"--spec-type", "none"}, {"--method", "plain"}}) {
    const Outcome plain = generated(target, plainly);
    EXPECT_EQ(method_of(plain), "plain");
    EXPECT_THAT(plain.err, testing::Not(testing::HasSubstr("dflash")));
  }
  const Outcome refused = generated(target, {"--method", "block", "-L", "3"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, testing::HasSubstr(drafter + " can draft for this model: give it with -md"));
}

TEST_F(DraftersNextToAModel, AreNotNeededWhereTheModelHasALayerForDrafting) {
  const std::string target = add("../arch2/glm4moe/model-mtp.gguf", "glm.gguf");
  const Outcome automatic = generated(target, {});
  EXPECT_EQ(method_of(automatic), "auto");
  EXPECT_THAT(automatic.err, testing::HasSubstr("drafts by a layer of the model (draft-mtp)"));
  const Outcome named = generated(target, {"--spec-type", "draft-mtp", "-K", "2", "-L", "2"});
  EXPECT_EQ(method_of(named), "spectr");
  EXPECT_GT(Json::parse(named.out)["stats"]["drafted"].get<int>(), 0);
  EXPECT_EQ(method_of(generated(target, {"--spec-type", "none"})), "plain");
}

TEST(BundledDrafters, GiveThePlainTextWithoutSampling) {
  const Arguments greedy = {
      "generate", "-m", data("models/spectr-stories-7m-q8_0.gguf"), "-p", "Once", "-n", "64", "--temp", "0",
      "-t",       "1"};
  const std::string plain = spectr(greedy + Arguments{"--method", "plain"}).out;
  for (const char* const kind : {"eagle3", "dflash"}) {
    for (const char* const method : {"spectr", "conditional", "traversal"}) {
      const Outcome drafted =
          spectr(greedy + Arguments{"-md", bundled_drafter(kind), "--method", method, "-K", "2", "-L", "3"});
      EXPECT_EQ(drafted.out, plain) << kind << " " << method << drafted.err;
    }
  }
}

// Tokens per call depend on the seed alone, not on the machine's speed.
TEST(BundledDrafters, GainByFourDraftsOfOnePass) {
  const std::string dflash = bundled_drafter("dflash");
  const double one = tokens_per_call(dflash, {"--method", "block", "-L", "4"});
  const double four =
      tokens_per_call(dflash, {"--method", "spectr", "--plan", "optimal", "-K", "4", "-L", "4"});
  EXPECT_GT(one, 1.7);
  EXPECT_GT(four, 1.15 * one);
}

}  // namespace
}  // namespace spectr::test
