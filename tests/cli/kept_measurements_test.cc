// One file of measurements, edited by several programs at once.
#include "apps/cli/kept_measurements.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace spectr::cli {
namespace {

constexpr int programs = 8, edits = 40;

std::string key(int program) {
  return "models of program " + std::to_string(program);
}

/// Runs `work` in processes of their own, all at once; false if one of them failed.
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
    for (int i = 0; i < edits; ++i) {
      file.change(key(program), [](Json& entry) { entry["edits"] = entry["edits"].template get<int>() + 1; });
    }
  }));
  const Json after = contents();
  for (int i = 0; i < programs; ++i) EXPECT_EQ(after[key(i)]["edits"], edits) << key(i);
}

TEST_F(KeptMeasurementsTest, AnEntryThatIsAddedMeanwhileStays) {
  const std::string shared = "models of all";
  std::ofstream(path()) << Json{{shared, {{"target", Json::object()}, {"edits", 0}}}}.dump();
  ASSERT_TRUE(run_together([&](int program) {
    const KeptMeasurements file(path());
    const auto measured = [](const Json&) { return true; };
    for (int i = 0; i < edits; ++i) {
      const std::string own = key(program) + ", " + std::to_string(i);
      (void)file.entry(own, measured, [] { return Json{{"target", Json::object()}}; });
      file.change(shared, [](Json& entry) { entry["edits"] = entry["edits"].template get<int>() + 1; });
    }
  }));
  const Json after = contents();
  EXPECT_EQ(after.size(), programs * edits + 1);
  EXPECT_EQ(after[shared]["edits"], programs * edits);
}

}  // namespace
}  // namespace spectr::cli
