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

/// E = ∫ P dt by the trapezoid rule. Requires: times ascending. 0 with fewer than two readings.
double joules(std::span<const PowerReading> readings);

/// The energy as MTAD sums it (arXiv 2407.09722, appendix D): of every whole second of the clock the reading
/// that follows it, for one second. Over many stretches it comes to the same as joules(), as long as power
/// does not follow the seconds; of one shorter than a second it is all or nothing. Requires: times ascending.
double sampled_joules(std::span<const PowerReading> readings);

/// Energy by both sums.
struct Energy {
  double joules;
  double sampled_joules;
};

/// Energy of stretches of a run, of all processors and GPUs that say what they use: counters of the processor
/// and power readings of the GPUs, which a thread of its own takes all the time. It is the whole machine's
/// energy, other programs' included.
class EnergyMeter {
 public:
  EnergyMeter();
  ~EnergyMeter();
  EnergyMeter(const EnergyMeter&) = delete;
  EnergyMeter& operator=(const EnergyMeter&) = delete;

  bool available() const { return rapl_.available() || nvml_.available(); }
  /// "RAPL", "NVML", "RAPL + NVML" or "not available".
  std::string source() const;

  /// Begins a stretch.
  void start();
  /// The energy since start(); none where nothing can be read, or something could not be in between.
  std::optional<Energy> stop();

  /// Watts over a second of doing nothing, measured at the first call.
  std::optional<double> idle_watts();

 private:
  void read();  // with the lock held
  double now() const;

  Rapl rapl_;
  Nvml nvml_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::optional<double> idle_watts_;

  std::mutex lock_;  // what follows is shared with the thread
  std::condition_variable ended_;
  bool end_ = false;
  bool failed_ = false;                 // to read something
  double last_ = 0.0;                   // s, of the last reading
  double counted_ = 0.0;                // J, of counters
  std::vector<PowerReading> readings_;  // of GPUs
  std::vector<PowerReading> totals_;    // of everything; of counters the mean since the reading before
  std::thread reader_;
};

}  // namespace spectr::bench
