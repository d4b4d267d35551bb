// One file of measurements is edited by several programs concurrently.
#include "spectr/engine/costs/kept_measurements.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace spectr {
namespace {

using Json = nlohmann::ordered_json;

constexpr int programs = 8, edits = 40;

/// Increments the count of edits of an entry.
std::string edited(std::string_view json) {
  Json entry = Json::parse(json);
  entry["edits"] = entry["edits"].get<int>() + 1;
  return entry.dump();
}

std::string key(int program) {
  return "models of program " + std::to_string(program);
}

/// Runs `work` in several processes concurrently. Returns false if one of them fails.
template <class Work>
bool run_together(Work work) {
  std::vector<pid_t> children;
  for (int i = 0; i < programs; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      work(i);
      _exit(0);
    }
    children.push_back(child);
  }
  bool all_well = true;
  for (const pid_t child : children) {
    int status = -1;
    all_well &= waitpid(child, &status, 0) == child && status == 0;
  }
  return all_well;
}

class KeptMeasurementsTest : public testing::Test {
 protected:
  KeptMeasurementsTest() {
    std::string name = testing::TempDir() + "kept_measurements_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~KeptMeasurementsTest() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ / "costs.json"; }
  Json contents() const { return Json::parse(std::ifstream(path())); }

  std::filesystem::path folder_;
};

TEST_F(KeptMeasurementsTest, ProgramsThatFinishTogetherKeepEachOthersEdits) {
  Json all;
  for (int i = 0; i < programs; ++i) all[key(i)] = {{"target", Json::object()}, {"edits", 0}};
  std::ofstream(path()) << all.dump();
  ASSERT_TRUE(run_together([this](int program) {
    const KeptMeasurements file(path());
    for (int i = 0; i < edits; ++i) EXPECT_TRUE(file.change(key(program), edited));
  }));
  const Json after = contents();
  for (int i = 0; i < programs; ++i) EXPECT_EQ(after[key(i)]["edits"], edits) << key(i);
}

TEST_F(KeptMeasurementsTest, AnEntryThatIsAddedMeanwhileStays) {
  const std::string shared = "models of all";
  std::ofstream(path()) << Json{{shared, {{"target", Json::object()}, {"edits", 0}}}}.dump();
  ASSERT_TRUE(run_together([&](int program) {
    const KeptMeasurements file(path());
    const auto measured = [](std::string_view) { return true; };
    for (int i = 0; i < edits; ++i) {
      const std::string own = key(program) + ", " + std::to_string(i);
      EXPECT_TRUE(file.entry(own, measured, [] { return R"({"target": {}})"; }));
      EXPECT_TRUE(file.change(shared, edited));
    }
  }));
  const Json after = contents();
  EXPECT_EQ(after.size(), programs * edits + 1);
  EXPECT_EQ(after[shared]["edits"], programs * edits);
}

}  // namespace
}  // namespace spectr
