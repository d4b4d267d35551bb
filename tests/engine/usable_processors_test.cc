#include "spectr/engine/usable_processors.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace spectr {
namespace {

class ProcessorQuota : public testing::Test {
 protected:
  ~ProcessorQuota() override { std::filesystem::remove_all(root_); }

  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << '\n';
  }
  double quota(const std::string& groups) const {
    std::istringstream in(groups);
    return processor_quota(in, root_);
  }

  static constexpr double none = std::numeric_limits<double>::infinity();

 private:
  std::filesystem::path root_ =
      std::filesystem::path(testing::TempDir()) / ("spectr-quota-" + std::to_string(::getpid()));
};

TEST_F(ProcessorQuota, IsWhatAContainerMayUse) {
  write("cpu.max", "150000 100000");
  EXPECT_EQ(quota("0::/\n"), 1.5);
}

TEST_F(ProcessorQuota, IsTheLeastOfTheGroupsAroundTheProcess) {
  write("cpu.max", "800000 100000");
  write("user.slice/cpu.max", "200000 100000");
  write("user.slice/session.scope/cpu.max", "max 100000");
  EXPECT_EQ(quota("0::/user.slice/session.scope\n"), 2.0);
  EXPECT_EQ(quota("0::/system.slice/other.service\n"), 8.0);
}

TEST_F(ProcessorQuota, IsReadInTheFirstVersionOfControlGroupsToo) {
  write("cpu,cpuacct/cpu.cfs_quota_us", "-1");
  write("cpu,cpuacct/cpu.cfs_period_us", "100000");
  write("cpu,cpuacct/docker/cpu.cfs_quota_us", "50000");
  write("cpu,cpuacct/docker/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota("5:memory:/docker\n4:cpu,cpuacct:/docker\n0::/docker\n"), 0.5);
  EXPECT_EQ(quota("5:memory:/docker\n4:cpu,cpuacct:/\n0::/\n"), none);
}

TEST_F(ProcessorQuota, IsNoneWhereNothingOrNonsenseIsTold) {
  EXPECT_EQ(quota(""), none);
  EXPECT_EQ(quota("0::/\nnonsense\n:\n"), none);
  write("cpu.max", "max 100000");
  EXPECT_EQ(quota("0::/\n"), none);
  for (const char* text : {"", "0 100000", "100000 0", "100000", "x y"}) {
    write("cpu.max", text);
    EXPECT_EQ(quota("0::/\n"), none) << text;
  }
}

TEST(UsableProcessors, AreAtLeastOne) {
  EXPECT_GE(usable_processors(), 1);
}

}  // namespace
}  // namespace spectr
