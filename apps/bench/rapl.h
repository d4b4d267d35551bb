#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace spectr::bench {

/// How far a counter that runs from 0 to `range` and starts again went between two readings, at most once
/// around.
std::uint64_t counter_advance(std::uint64_t before, std::uint64_t after, std::uint64_t range);

/// The energy counters of the processor packages (Running Average Power Limit), as Linux shows them below
/// /sys/class/powercap. Reading them may need root.
class Rapl {
 public:
  /// Those package counters that can be read; perhaps none.
  explicit Rapl(const std::filesystem::path& root = "/sys/class/powercap");

  bool available() const { return !packages_.empty(); }

  /// Joules of all packages since the last call (or since construction); none where a counter cannot be read
  /// any more. The counters go around after some minutes at full load: call it more often.
  std::optional<double> lap();

 private:
  struct Package {
    std::filesystem::path counter;
    std::uint64_t range, last;  ///< µJ
  };
  std::vector<Package> packages_;
};

}  // namespace spectr::bench
