// `spectr draft features` writes training data, and `spectr draft train` makes drafters of it by PyTorch.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/program/spectr.h"

namespace spectr::test {
namespace {

std::string small_target() {
  return (source_folder() / "tests/data/drafters/target-llama.gguf").string();
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the command that writes features to a file.
Arguments draft_features(const std::string& text, const std::string& output) {
  return {"draft", "features", "-m", small_target(), "-f", text, "-o", output, "-n", "16"};
}

template <class T>
T value_at(const std::string& bytes, std::size_t position) {
  T value;
  std::memcpy(&value, bytes.data() + position, sizeof value);
  return value;
}

TEST(DraftFeatures, HoldTheTargetsProbabilities) {
  const TemporaryFile text("the fox and the dog ran to the river"), output("");
  const Outcome ran = spectr(draft_features(text.path(), output.path()) +
                             Arguments{"--top", "3", "--feature-type", "f32", "--layers", "0,1"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::string bytes = bytes_of(output.path());
  ASSERT_EQ(bytes.substr(0, 8), "SPECTRF1");
  const auto header_size = value_at<std::uint32_t>(bytes, 8);
  const Json header = Json::parse(bytes.substr(12, header_size));
  EXPECT_EQ(header["layers"], Json({0, 1}));
  const std::size_t begin = 12 + header_size, top = header["top"];
  const auto tokens = value_at<std::uint32_t>(bytes, begin);
  ASSERT_GE(tokens, 4U);
  std::string ids;
  for (std::size_t i = 0; i < 3; ++i)
    ids += (i == 0 ? "" : ",") + std::to_string(value_at<std::int32_t>(bytes, begin + 8 + 4 * i));
  const Outcome scored = spectr({"logits", "-m", small_target(), "--tokens", ids, "--json"});
  ASSERT_EQ(scored.status, 0) << scored.err;
  const auto logits = Json::parse(scored.out)["logits"].get<std::vector<double>>();
  double sum = 0.0;
  for (const double logit : logits) sum += std::exp(logit);
  const std::size_t ids_at = begin + 8 + 4 * std::size_t{tokens},
                    values_at = ids_at + 4 * top * (std::size_t{tokens} - 1);
  for (std::size_t i = 0; i < top; ++i) {
    const auto token = value_at<std::int32_t>(bytes, ids_at + 4 * (2 * top + i));
    const double log_q = logits[static_cast<std::size_t>(token)] - std::log(sum);
    EXPECT_NEAR(value_at<float>(bytes, values_at + 4 * (2 * top + i)), log_q, 1e-5);
  }
}

TEST(DraftFeatures, ContinueAsIfTheyHadNotBeenInterrupted) {
  const TemporaryFile text("the fox and the dog ran to the river"), output("");
  const Arguments command =
      draft_features(text.path(), output.path()) + Arguments{"--opening", "3", "--count", "5"};
  ASSERT_EQ(spectr(command).status, 0);
  const std::string whole = bytes_of(output.path());
  for (const std::size_t left : {whole.size() / 2, whole.size() - 1}) {
    std::filesystem::resize_file(output.path(), left);
    ASSERT_EQ(spectr(command).status, 0);
    EXPECT_EQ(bytes_of(output.path()), whole);
  }
  ASSERT_EQ(spectr(command).status, 0);
  EXPECT_EQ(bytes_of(output.path()), whole);
}

TEST(DraftFeatures, RefuseAFileOfOtherSettings) {
  const TemporaryFile text("the fox and the dog"), other("SPECTRF1 of something else, and long enough"),
      empty("");
  expect_error(draft_features(text.path(), other.path()), "has other settings or another target");
  expect_error(draft_features(empty.path(), "/tmp/spectr-none"), "the texts are empty");
  expect_error(draft_features(text.path(), "/tmp/spectr-none") + Arguments{"--layers", "99"}, "--layers");
  expect_error(draft_features(text.path(), "/tmp/spectr-none") + Arguments{"-n", "1000000"}, "-n: 1000000");
}

TEST(DraftTrain, NamesWhatIsMissing) {
  const Arguments train = {"draft", "train", "-m", small_target(), "--kind", "dflash", "-f", "x", "-o", "y"};
  expect_error(train, "/nowhere/python: Python, which trains drafters, cannot be run",
               {.variables = {{"SPECTR_PYTHON", "/nowhere/python"}}});
  const TemporaryFile bare("#!/bin/sh\nexec python3 -S -I \"$@\"\n");
  std::filesystem::permissions(bare.path(), std::filesystem::perms::owner_all);
  const Surroundings without = {.variables = {{"SPECTR_PYTHON", bare.path()}}};
  expect_error(train, "-m pip install torch gguf", without);
  expect_error({"draft", "train", "-m", small_target(), "--kind", "medusa"}, "invalid choice: 'medusa'",
               without);
}

/// A claim that tests/program/trained_drafters.py checks.
class TrainedDrafters : public testing::TestWithParam<std::string> {};

TEST_P(TrainedDrafters, AreThoseOfTheProgram) {
  const char* const chosen = std::getenv("SPECTR_PYTHON");
  const std::string python = chosen != nullptr ? chosen : "python3";
  const auto in_shell = [](const Arguments& words) {
    return run_program("/bin/sh", Arguments{"-c", "exec \"$0\" \"$@\""} + words);
  };
  if (in_shell({python, "-c", "import torch, gguf"}).status != 0)
    GTEST_SKIP() << "PyTorch and gguf are not installed for Python";
  const std::string script = (source_folder() / "tests/program/trained_drafters.py").string();
  const Outcome ran =
      in_shell({python, "-B", script, spectr_program(), source_folder().string(), GetParam()});
  EXPECT_EQ(ran.status, 0) << ran.err;
}

INSTANTIATE_TEST_SUITE_P(Claims, TrainedDrafters, testing::Values("gradient", "dflash", "eagle3"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace spectr::test
