#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "apps/bench/nvml.h"
#include "apps/bench/rapl.h"

namespace spectr::bench {

/// A reading of a power meter.
struct PowerReading {
  double seconds;
  double watts;
};

/// E = ∫ P dt by the trapezoid rule. Requires: ascending times. Returns 0 for fewer than two readings.
double joules(std::span<const PowerReading> readings);

/// Returns the energy as MTAD sums it (arXiv 2407.09722, appendix D): for each whole second of the clock, the
/// next reading times one second. Over many intervals it agrees with joules() if power does not correlate
/// with the clock; an interval below one second counts fully or not at all. Requires: ascending times.
double sampled_joules(std::span<const PowerReading> readings);

/// Energy by joules() and by sampled_joules().
struct Energy {
  double joules;
  double sampled_joules;
};

/// Measures the energy of intervals of a run over all readable processors and GPUs, from processor counters
/// and from GPU power readings that a background thread samples. The result covers the whole machine,
/// including other programs.
class EnergyMeter {
 public:
  EnergyMeter();
  ~EnergyMeter();
  EnergyMeter(const EnergyMeter&) = delete;
  EnergyMeter& operator=(const EnergyMeter&) = delete;

  bool available() const { return rapl_.available() || nvml_.available(); }
  /// Returns "RAPL", "NVML", "RAPL + NVML" or "not available".
  std::string source() const;

  /// Begins an interval.
  void start();
  /// Returns the energy since start(), or nothing if there is no meter or a reading failed.
  std::optional<Energy> stop();

  /// Returns the power in watts over one idle second, measured at the first call.
  std::optional<double> idle_watts();

 private:
  void read();  // requires: lock_ is held
  double now() const;

  Rapl rapl_;
  Nvml nvml_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::optional<double> idle_watts_;

  std::mutex lock_;  // guards the following members
  std::condition_variable ended_;
  bool end_ = false;
  bool failed_ = false;                 // a reading failed since start()
  double last_ = 0.0;                   // s, time of the last reading
  double counted_ = 0.0;                // J, from the counters
  std::vector<PowerReading> readings_;  // GPU power
  std::vector<PowerReading> totals_;    // total power; counters contribute their mean since the last reading
  std::thread reader_;
};

}  // namespace spectr::bench
