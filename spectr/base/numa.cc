#include "spectr/base/numa.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "spectr/base/os/affinity.h"

namespace spectr {
namespace {

std::optional<int> parse_processor(std::string_view text) {
  int number = 0;
  const char *const begin = text.data(), *const end = begin + text.size();
  const auto [next, failure] = std::from_chars(begin, end, number);
  const bool is_one = failure == std::errc() && next == end && number >= 0 && number < max_processors;
  return is_one ? std::optional(number) : std::nullopt;
}

}  // namespace

std::vector<int> parse_processor_list(std::string_view list) {
  std::vector<int> numbers;
  while (!list.empty()) {
    const std::string_view range = list.substr(0, list.find(','));
    list.remove_prefix(std::min(range.size() + 1, list.size()));
    const std::size_t dash = range.find('-');
    const auto first = parse_processor(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_processor(range.substr(dash + 1));
    if (!first || !last || *last < *first) return {};
    for (int i = *first; i <= *last; ++i) numbers.push_back(i);
  }
  return numbers;
}

std::vector<std::vector<int>> numa_nodes(const std::filesystem::path& folder) {
  const std::vector<int> allowed = allowed_processors();
  std::vector<std::pair<int, std::vector<int>>> found;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("node")) continue;
    const auto number = parse_processor(std::string_view(name).substr(4));
    if (!number) continue;
    std::string list;
    std::getline(std::ifstream(entry.path() / "cpulist") >> std::ws, list);
    std::vector<int> processors = parse_processor_list(list);
    std::erase_if(processors, [&](int one) { return std::ranges::find(allowed, one) == allowed.end(); });
    if (!processors.empty()) found.emplace_back(*number, std::move(processors));
  }
  std::ranges::sort(found);
  std::vector<std::vector<int>> nodes;
  for (auto& [number, processors] : found) nodes.push_back(std::move(processors));
  if (nodes.empty()) nodes.push_back(allowed);
  return nodes;
}

std::size_t current_node(std::span<const std::vector<int>> nodes) {
  const int processor = current_processor();
  const auto found = std::ranges::find_if(nodes, [processor](const std::vector<int>& node) {
    return std::ranges::find(node, processor) != node.end();
  });
  return found == nodes.end() ? 0 : static_cast<std::size_t>(found - nodes.begin());
}

RunningOn::RunningOn(std::span<const int> processors) : before_(allowed_processors()) {
  allow_processors(processors);
}

RunningOn::~RunningOn() {
  allow_processors(before_);
}

}  // namespace spectr
