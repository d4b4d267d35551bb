#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace spectr {

/// The numbers of a list as Linux writes it: "0-3,8" is 0, 1, 2, 3, 8. Empty where it is none.
std::vector<int> parse_processor_list(std::string_view list);

/// The processors beside each memory, of those that this thread may run on; memories without any are left
/// out. One of all processors where the system tells of no memories. `folder`: where it does.
std::vector<std::vector<int>> numa_nodes(const std::filesystem::path& folder = "/sys/devices/system/node");

/// Which of the nodes this thread runs on at the moment. Requires: there is one.
std::size_t current_node(std::span<const std::vector<int>> nodes);

/// While it lives, this thread and those that it starts run on these processors only, so that what they are
/// the first to write lies in the memory beside them. Without effect where the system does not let them.
class RunningOn {
 public:
  explicit RunningOn(std::span<const int> processors);
  ~RunningOn();
  RunningOn(const RunningOn&) = delete;
  RunningOn& operator=(const RunningOn&) = delete;

  /// Lets it stay so.
  void keep() { before_.clear(); }

 private:
  std::vector<int> before_;
};

}  // namespace spectr
