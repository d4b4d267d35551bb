// The program spectr-card: a dry run on the twins, on Vulkan's devices, and on the mock of the CUDA driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "spectr/backend/cuda/kernel_image.h"
#include "tests/support/data.h"
#include "tests/support/program.h"

namespace spectr::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

Outcome card(const std::vector<std::string>& arguments, const Surroundings& surroundings = {}) {
  return run_program(fs::path(spectr_program()).parent_path() / "spectr-card", arguments, surroundings);
}

/// Returns an environment with the mock of the CUDA driver; `words` describe its devices.
Surroundings with_mock(const std::string& words = "") {
  return {.variables = {{"LD_LIBRARY_PATH", mock_cuda_folder()}, {"SPECTR_MOCK_CUDA", words}}};
}

/// Runs the program and returns its status and what it wrote as JSON.
std::pair<Outcome, json> card_with_json(std::vector<std::string> arguments,
                                        const Surroundings& surroundings) {
  const fs::path file = fs::temp_directory_path() / ("spectr-card-" + std::to_string(::getpid()) + ".json");
  arguments.insert(arguments.end(), {"--json", file});
  Outcome outcome = card(arguments, surroundings);
  std::ifstream written(file);
  json results = json::parse(written, nullptr, false);
  fs::remove(file);
  return {std::move(outcome), std::move(results)};
}

TEST(CardProgram, FindsTheBitsOfTheTwinsInADryRun) {
  const auto [outcome, results] = card_with_json({"--dry-run"}, {});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  ASSERT_FALSE(results.is_discarded());
  ASSERT_GE(results.size(), 1u);
  for (const json& of_device : results) {
    std::vector<std::string> names;
    for (const json& section : of_device["sections"]) names.push_back(section["name"].get<std::string>());
    EXPECT_THAT(names,
                testing::ElementsAre("card", "copies within its memory", "bits of products",
                                     "bits of other kernels", "bits of passes", "passes", "plans of products",
                                     "round trips of a draft of one layer", "a synthetic pair, greedy"));
    EXPECT_EQ(of_device["differences"], 0);
    EXPECT_EQ(of_device["failures"], 0);
    EXPECT_GT(of_device["compared"], 40);
    for (const json& row : of_device["sections"][5]["rows"]) EXPECT_GT(row["ms"], 0.0);
  }
}

class CardOnCuda : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::has_kernel_images()) GTEST_SKIP() << "this build has no kernels for GPUs";
  }
};

TEST_F(CardOnCuda, ComparesProductsByEveryKernel) {
  const auto [outcome, results] =
      card_with_json({"--dry-run", "--device", "CUDA0", "--only", "card,products,kernels"}, with_mock());
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0]["sections"][0]["rows"][0]["CUDA of the driver"], "13.0");
  EXPECT_EQ(results[0]["differences"], 0);
  int kernels = 0;
  for (const json& row : results[0]["sections"][1]["rows"]) kernels = std::max<int>(kernels, row["kernels"]);
  EXPECT_GT(kernels, 4);
}

TEST_F(CardOnCuda, MeasuresFirstAndTriedPlans) {
  const auto [outcome, results] =
      card_with_json({"--dry-run", "--device", "CUDA0", "--only", "plans"}, with_mock());
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const json& plans = results[0]["sections"][0];
  EXPECT_EQ(plans["rows"].size(), 2u);
  EXPECT_GT(plans["notes"].size(), 3u) << "the plans that were chosen";
}

TEST_F(CardOnCuda, FailsIfABitDiffers) {
  const Outcome outcome =
      card({"--dry-run", "--device", "CUDA0", "--only", "kernels"}, with_mock("wrong_download=3"));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, HasSubstr("other bits than the twins: attention, case 0"));
}

TEST_F(CardOnCuda, FailsIfTheDeviceIsLostAndGoesOn) {
  const auto [outcome, results] = card_with_json(
      {"--dry-run", "--device", "CUDA0", "--only", "products,kernels"}, with_mock("lose_at=9"));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(results[0]["failures"], 2);
  EXPECT_THAT(outcome.out, HasSubstr("failed: CUDA0: the device was lost during a pass"));
}

TEST(CardProgram, ReadsModelsOfTheFolderThatAVariableNames) {
  const Outcome outcome = card({"--dry-run", "--device", "twins", "--only", "passes"},
                               {.variables = {{"SPECTR_SOURCE_DIR", "/nonexistent"}}});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, HasSubstr("/nonexistent/tests/data/arch"));
}

TEST(CardProgram, RefusesUnknownArguments) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--dry"}, {"--only", "products,nothing"}, {"--device"}}) {
    const Outcome outcome = card(arguments);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, HasSubstr("--dry-run"));
  }
  EXPECT_EQ(card({"--device", "CUDA99", "--only", "card"}).status, 1);
}

}  // namespace
}  // namespace spectr::test
