#include "apps/bench/energy_meter.h"

#include <algorithm>
#include <cmath>

namespace spectr::bench {
namespace {

// NVML updates its reading about ten times per second; RAPL counters wrap around after minutes.
constexpr std::chrono::milliseconds between_readings(50);

}  // namespace

double joules(std::span<const PowerReading> readings) {
  double sum = 0.0;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const PowerReading &a = readings[i - 1], &b = readings[i];
    sum += (a.watts + b.watts) / 2.0 * (b.seconds - a.seconds);
  }
  return sum;
}

double sampled_joules(std::span<const PowerReading> readings) {
  double sum = 0.0;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const double seconds = std::floor(readings[i].seconds) - std::floor(readings[i - 1].seconds);
    sum += seconds * readings[i].watts;
  }
  return sum;
}

EnergyMeter::EnergyMeter() {
  if (!available()) return;
  reader_ = std::thread([this] {
    std::unique_lock lock(lock_);
    while (!ended_.wait_for(lock, between_readings, [this] { return end_; })) read();
  });
}

EnergyMeter::~EnergyMeter() {
  if (!reader_.joinable()) return;
  {
    const std::lock_guard lock(lock_);
    end_ = true;
  }
  ended_.notify_one();
  reader_.join();
}

std::string EnergyMeter::source() const {
  if (rapl_.available() && nvml_.available()) return "RAPL + NVML";
  if (rapl_.available()) return "RAPL";
  return nvml_.available() ? "NVML" : "not available";
}

double EnergyMeter::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

void EnergyMeter::read() {
  const double at = now();
  const auto counted = rapl_.lap();
  counted_ += counted.value_or(0.0);
  if (!counted) failed_ = true;
  PowerReading total{at, counted.value_or(0.0) / std::max(at - last_, 1e-9)};
  last_ = at;
  if (nvml_.available()) {
    const auto watts = nvml_.watts();
    if (!watts) failed_ = true;
    readings_.push_back({now(), watts.value_or(0.0)});
    total.watts += watts.value_or(0.0);
  }
  totals_.push_back(total);
}

void EnergyMeter::start() {
  if (!available()) return;
  const std::lock_guard lock(lock_);
  readings_.clear();
  totals_.clear();
  failed_ = false;
  read();
  counted_ = 0.0;
}

std::optional<Energy> EnergyMeter::stop() {
  if (!available()) return std::nullopt;
  const std::lock_guard lock(lock_);
  read();
  if (failed_) return std::nullopt;
  return Energy{counted_ + joules(readings_), sampled_joules(totals_)};
}

std::optional<double> EnergyMeter::idle_watts() {
  if (!available() || idle_watts_) return idle_watts_;
  const double began = now();
  start();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  if (const auto energy = stop()) idle_watts_ = energy->joules / (now() - began);
  return idle_watts_;
}

}  // namespace spectr::bench
