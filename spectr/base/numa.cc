#include "spectr/base/numa.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

namespace spectr {
namespace {

/// That this thread may run on.
std::vector<int> allowed_processors() {
  std::vector<int> processors;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return processors;  // more than a set can hold
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) processors.push_back(i);
  }
  return processors;
}

void allow(std::span<const int> processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int one : processors) CPU_SET(one, &set);
  if (CPU_COUNT(&set) > 0) (void)sched_setaffinity(0, sizeof set, &set);
}

}  // namespace

std::vector<int> parse_processor_list(std::string_view list) {
  std::vector<int> numbers;
  const char *at = list.data(), *const end = list.data() + list.size();
  const auto read = [&](int& number) {
    const auto [next, failure] = std::from_chars(at, end, number);
    at = next;
    return failure == std::errc() && number >= 0 && number < CPU_SETSIZE;
  };
  while (at != end) {
    int first = 0;
    if (!read(first)) return {};
    int last = first;
    if (at != end && *at == '-' && (++at, !read(last) || last < first)) return {};
    for (int i = first; i <= last; ++i) numbers.push_back(i);
    if (at != end && *at++ != ',') return {};
  }
  return numbers;
}

std::vector<std::vector<int>> numa_nodes(const std::filesystem::path& folder) {
  const std::vector<int> allowed = allowed_processors();
  std::vector<std::pair<int, std::vector<int>>> found;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename();
    int number = 0;
    if (!name.starts_with("node")) continue;
    const char* const end = name.data() + name.size();
    if (const auto [next, bad] = std::from_chars(name.data() + 4, end, number);
        bad != std::errc() || next != end)
      continue;
    std::string list;
    std::getline(std::ifstream(entry.path() / "cpulist") >> std::ws, list);
    std::vector<int> processors = parse_processor_list(list);
    std::erase_if(processors, [&](int one) { return std::ranges::find(allowed, one) == allowed.end(); });
    if (!processors.empty()) found.emplace_back(number, std::move(processors));
  }
  std::ranges::sort(found);
  std::vector<std::vector<int>> nodes;
  for (auto& [number, processors] : found) nodes.push_back(std::move(processors));
  if (nodes.empty()) nodes.push_back(allowed);
  return nodes;
}

std::size_t current_node(std::span<const std::vector<int>> nodes) {
  const int processor = sched_getcpu();
  const auto found = std::ranges::find_if(nodes, [processor](const std::vector<int>& node) {
    return std::ranges::find(node, processor) != node.end();
  });
  return found == nodes.end() ? 0 : static_cast<std::size_t>(found - nodes.begin());
}

RunningOn::RunningOn(std::span<const int> processors) : before_(allowed_processors()) {
  allow(processors);
}

RunningOn::~RunningOn() {
  allow(before_);
}

}  // namespace spectr
