#include "apps/bench/rapl.h"

#include <fstream>
#include <optional>
#include <string>
#include <system_error>

namespace spectr::bench {
namespace {

std::optional<std::uint64_t> number_in(const std::filesystem::path& file) {
  std::uint64_t number = 0;
  return std::ifstream(file) >> number ? std::optional(number) : std::nullopt;
}

}  // namespace

std::uint64_t counter_advance(std::uint64_t before, std::uint64_t after, std::uint64_t range) {
  return after >= before ? after - before : after + (range - before);
}

Rapl::Rapl(const std::filesystem::path& root) {
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(root, failed)) {
    // Subzones of a package (cores, memory) are part of it or, on some servers, separate: only packages
    // count. A package may also be listed twice, once through memory-mapped registers.
    std::string name;
    if (entry.path().filename().string().starts_with("intel-rapl-mmio")) continue;
    if (!std::getline(std::ifstream(entry.path() / "name"), name) || !name.starts_with("package")) continue;
    const auto counter = entry.path() / "energy_uj";
    const auto now = number_in(counter), range = number_in(entry.path() / "max_energy_range_uj");
    if (now && range) packages_.push_back({counter, *range, *now});
  }
}

std::optional<double> Rapl::lap() {
  double microjoules = 0.0;
  for (Package& package : packages_) {
    const auto now = number_in(package.counter);
    if (!now) return std::nullopt;
    microjoules += static_cast<double>(counter_advance(package.last, *now, package.range));
    package.last = *now;
  }
  return microjoules * 1e-6;
}

}  // namespace spectr::bench
