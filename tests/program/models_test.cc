// Information about models without running them: their location, memory requirements,
// and compatibility with each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "tests/program/spectr.h"

namespace spectr::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

/// Returns the output of a command, which must succeed.
std::string output(const Arguments& arguments, const Surroundings& where = {}) {
  const Outcome ran = test::spectr(arguments, where);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return ran.out;
}

TEST(Models, AreThoseOfTheCaches) {
  namespace fs = std::filesystem;
  std::string folder = testing::TempDir() + "models_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const fs::path snapshot = fs::path(folder) / "hub/models--me--tiny/snapshots/a";
  fs::create_directories(snapshot);
  fs::create_symlink(fs::absolute(target()), snapshot / "tiny-Q8_0.gguf");
  const Surroundings caches = {.variables = {{"HF_HUB_CACHE", folder + "/hub"}, {"LLAMA_CACHE", folder}}};
  EXPECT_THAT(output({"models"}, caches), HasSubstr("me/tiny:Q8_0"));
  const Json list = Json::parse(output({"models", "--json"}, caches))["models"];
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["repository"], "me/tiny");
  EXPECT_EQ(list[0]["file"], "tiny-Q8_0.gguf");
  EXPECT_EQ(list[0]["bytes"], fs::file_size(target()));
  const std::string tokens = output({"tokenize", "-m", target(), "-p", "Once"});
  EXPECT_EQ(output({"tokenize", "-hf", "me/tiny", "-p", "Once"}, caches), tokens);
  EXPECT_EQ(output({"tokenize", "-hf=me/tiny:q8_0", "-p", "Once"}, caches), tokens);
  EXPECT_EQ(output({"tokenize", "-hf", "me/tiny", "-hff", "tiny-Q8_0.gguf", "-p", "Once"}, caches), tokens);
  EXPECT_THAT(output({"check-pair", "-m", target(), "-hfd", "me/tiny"}, caches), HasSubstr("can draft for"));
  expect_error({"tokenize", "-m", target(), "-hf", "me/tiny", "-p", "Once"}, "-hf", caches);
  expect_error({"tokenize", "-hf", "me/tiny:Q4_0", "-p", "Once"}, "there is tiny-Q8_0.gguf", caches);
  expect_error({"tokenize", "-mu", "https://example.com/x.gguf", "-p", "Once"}, "curl -L", caches);
  Surroundings by_variable = caches;
  by_variable.variables["LLAMA_ARG_HF_REPO"] = "me/tiny";
  EXPECT_EQ(output({"tokenize", "-p", "Once"}, by_variable), tokens);
  by_variable.variables["LLAMA_ARG_HF_REPO"] = "me/none";
  EXPECT_EQ(output({"tokenize", "-m", target(), "-p", "Once"}, by_variable), tokens);
  fs::remove_all(folder);
}

TEST(CheckPair, ItsStatusIsTheAnswer) {
  const Outcome yes = test::spectr({"check-pair", "-m", target(), "-md", draft()});
  EXPECT_EQ(yes.status, 0);
  EXPECT_THAT(yes.out, HasSubstr("can draft for"));
  const Outcome no = test::spectr({"check-pair", "-m", target(), "-md", stranger()});
  EXPECT_EQ(no.status, 2);
  EXPECT_EQ(no.out, "");
  EXPECT_THAT(no.err, StartsWith("spectr: error: "));
  EXPECT_EQ(test::spectr({"check-pair", "-m", target()}).status, 2);
  // A file with only a vocabulary is not a model.
  const std::string vocabulary = data("ggml-vocab-gpt-2.gguf");
  EXPECT_EQ(test::spectr({"check-pair", "-m", vocabulary, "-md", vocabulary}).status, 2);
}

TEST(Inspect, PrintsMetadataAndTensors) {
  const std::string text = output({"inspect", target()});
  EXPECT_THAT(text, StartsWith("spectr runs this model: "));
  EXPECT_THAT(text, ContainsRegex("memory: weights about [0-9.]+ MB; a text of 512 tokens [0-9.]+ MB"));
  EXPECT_THAT(text, HasSubstr("can draft for it"));
  EXPECT_THAT(output({"inspect", data("ggml-vocab-gpt-2.gguf")}),
              StartsWith("spectr does not run this file: "));
  EXPECT_THAT(text, HasSubstr("general.architecture"));
  EXPECT_THAT(text, HasSubstr("token_embd.weight"));
}

TEST(Inspect, SaysWhatATrainedDrafterIsFor) {
  EXPECT_THAT(
      output({"inspect", (source_folder() / "models/trained/spectr-stories-7m-eagle3-q8_0.gguf").string()}),
      StartsWith("spectr drafts with this file: -md gives it to the target"));
}

}  // namespace
}  // namespace spectr::test
