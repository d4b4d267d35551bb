#include "spectr/engine/costs/processor_name.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <vector>

namespace spectr {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  return processor_name(info);
}

std::string processor_name(std::istream& info) {
  std::string maker;
  std::vector<std::string> cores;
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string value = line.substr(colon + 2);
    const auto tells = [&line](std::string_view key) { return line.starts_with(key); };
    if (tells("model name")) return value;
    if (tells("CPU implementer")) maker = value;
    if (!tells("CPU part")) continue;
    if (const std::string core = maker + "/" + value; std::ranges::find(cores, core) == cores.end())
      cores.push_back(core);
  }
  return cores.empty() ? "unknown processor" : fmt::format("ARM {}", fmt::join(cores, " and "));
}

}  // namespace spectr
