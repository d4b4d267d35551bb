#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace spectr::bench {

/// Returns the advance of a counter with values from 0 to `range` between two readings. The counter must not
/// have wrapped around more than once.
std::uint64_t counter_advance(std::uint64_t before, std::uint64_t after, std::uint64_t range);

/// Energy counters of the processor packages (Running Average Power Limit), which Linux exposes below
/// /sys/class/powercap. Reading them may require root.
class Rapl {
 public:
  /// Opens all package counters that can be read, possibly none.
  explicit Rapl(const std::filesystem::path& root = "/sys/class/powercap");

  bool available() const { return !packages_.empty(); }

  /// Returns the joules of all packages since the last call or construction, or nothing if a counter is no
  /// longer readable. Counters wrap around within minutes at full load, so call it more often.
  std::optional<double> lap();

 private:
  struct Package {
    std::filesystem::path counter;
    std::uint64_t range, last;  ///< µJ
  };
  std::vector<Package> packages_;
};

}  // namespace spectr::bench
