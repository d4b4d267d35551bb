// Processors of each NUMA node, and threads pinned to them.
#include "spectr/base/numa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace spectr {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Numa, ListsOfProcessorsAreReadAsLinuxWritesThem) {
  EXPECT_THAT(parse_processor_list("0-3,8,10-11"), ElementsAre(0, 1, 2, 3, 8, 10, 11));
  EXPECT_THAT(parse_processor_list("5"), ElementsAre(5));
  for (const char* const none : {"", "x", "3-", "3-1", "1;2", "-1", "99999999"})
    EXPECT_THAT(parse_processor_list(none), IsEmpty()) << none;
}

/// Returns the processors on which this thread may run.
std::vector<int> allowed() {
  std::vector<int> processors;
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) processors.push_back(i);
  }
  return processors;
}

/// A copy of the system's folder with two NUMA nodes: one with all processors, one without any.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("numa-" + std::to_string(getpid()))) {
    write("node1", "\n");
    write("node0", "0-1023\n");
    write("power", "0\n");
  }
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  void write(const std::string& node, const std::string& list) {
    fs::create_directories(path_ / node);
    std::ofstream(path_ / node / "cpulist") << list;
  }
  fs::path path_;
};

TEST(Numa, NodesHaveTheProcessorsThatMayBeUsedAndOthersAreLeftOut) {
  const Folder folder;
  EXPECT_THAT(numa_nodes(folder.path()), ElementsAre(allowed()));
  EXPECT_THAT(numa_nodes("/nowhere"), ElementsAre(allowed()));
  EXPECT_LT(current_node(numa_nodes()), numa_nodes().size());
}

TEST(Numa, AThreadAndThoseThatItStartsRunWhereTheyShallAndThenWhereTheyDid) {
  const std::vector<int> before = allowed();
  std::vector<int> of_another;
  {
    const RunningOn one({before.data(), 1});
    EXPECT_THAT(allowed(), ElementsAre(before.front()));
    std::thread([&] { of_another = allowed(); }).join();
  }
  EXPECT_THAT(of_another, ElementsAre(before.front()));
  EXPECT_EQ(allowed(), before);
}

}  // namespace
}  // namespace spectr
