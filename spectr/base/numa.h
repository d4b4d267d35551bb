#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace spectr {

/// Parses a processor list in Linux's format: "0-3,8" is 0, 1, 2, 3, 8. Returns nothing if it is malformed.
std::vector<int> parse_processor_list(std::string_view list);

/// Returns the processors of each NUMA node that this thread may run on; nodes without any are left out.
/// Returns a single node with all allowed processors if `folder`, a directory of sysfs, lists no nodes.
std::vector<std::vector<int>> numa_nodes(const std::filesystem::path& folder = "/sys/devices/system/node");

/// Returns the index of the node that this thread is running on; 0 if none has its processor.
std::size_t current_node(std::span<const std::vector<int>> nodes);

/// Restricts this thread, and threads that it starts, to these processors while the object lives. Memory that
/// they touch first is then allocated on their node. Has no effect if the system refuses.
class RunningOn {
 public:
  explicit RunningOn(std::span<const int> processors);
  ~RunningOn();
  RunningOn(const RunningOn&) = delete;
  RunningOn& operator=(const RunningOn&) = delete;

  /// Keeps the restriction after the object's end.
  void keep() { before_.clear(); }

 private:
  std::vector<int> before_;
};

}  // namespace spectr
