// Energy from power readings: the integral, counters that wrap around, and files in Linux's format.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

#include "apps/bench/energy_meter.h"
#include "apps/bench/rapl.h"
#include "tests/benchmark/file.h"

namespace spectr::bench {
namespace {

TEST(Energy, TrapezoidsOverUnevenTimes) {
  const PowerReading constant[] = {{0.0, 50.0}, {0.1, 50.0}, {2.0, 50.0}};
  EXPECT_DOUBLE_EQ(joules(constant), 100.0);
  const PowerReading ramp[] = {{1.0, 0.0}, {1.5, 10.0}, {3.0, 40.0}};  // P = 20 (t − 1): ∫ = 10 · 2²
  EXPECT_DOUBLE_EQ(joules(ramp), 40.0);
}

TEST(Energy, SecondsAreSummedAsMtadSumsThem) {
  // Whole seconds 1, 2 and 3 precede the second reading, and 4 precedes the fourth.
  const PowerReading some[] = {{0.5, 10.0}, {3.2, 20.0}, {3.9, 1000.0}, {4.0, 40.0}};
  EXPECT_DOUBLE_EQ(sampled_joules(some), 3 * 20.0 + 40.0);
  EXPECT_EQ(sampled_joules(std::span(some).first(1)), 0.0);
  // Adjoining intervals have the same sum as one long interval.
  double parts = 0.0;
  std::vector<PowerReading> all;
  for (int i = 0; i <= 200; ++i) all.push_back({0.05 * i, 50.0 + i % 7});
  for (std::size_t i = 0; i < 200; i += 8)
    parts += sampled_joules(std::span(all).subspan(i, std::min<std::size_t>(9, all.size() - i)));
  EXPECT_DOUBLE_EQ(parts, sampled_joules(all));
  EXPECT_NEAR(sampled_joules(all), joules(all), 0.06 * joules(all));
}

TEST(Energy, FewerThanTwoReadingsAreNoEnergy) {
  const PowerReading one[] = {{0.0, 50.0}};
  EXPECT_EQ(joules(one), 0.0);
  EXPECT_EQ(joules({}), 0.0);
}

TEST(Energy, CountersGoAround) {
  EXPECT_EQ(counter_advance(100, 250, 1000), 150u);
  EXPECT_EQ(counter_advance(900, 50, 1000), 150u);
  EXPECT_EQ(counter_advance(7, 7, 1000), 0u);
}

/// A folder with the structure of /sys/class/powercap.
class Powercap : public testing::Test {
 protected:
  void zone(const char* folder, const char* name, const char* energy) {
    const auto path = std::filesystem::path(root_.path()).parent_path() / folder;
    std::filesystem::create_directories(path);
    std::ofstream(path / "name") << name << "\n";
    std::ofstream(path / "max_energy_range_uj") << "10000000\n";
    std::ofstream(path / "energy_uj") << energy << "\n";
  }
  std::filesystem::path root() const { return std::filesystem::path(root_.path()).parent_path(); }

 private:
  test::NamedFile root_{"unrelated", ""};
};

TEST_F(Powercap, PackagesAreSummedAndPartsOfThemAreNot) {
  zone("intel-rapl:0", "package-0", "1000000");
  zone("intel-rapl:1", "package-1", "9500000");
  zone("intel-rapl:0:0", "core", "5");
  zone("intel-rapl-mmio:0", "package-0", "1000000");  // a duplicate of the first package
  Rapl rapl(root());
  ASSERT_TRUE(rapl.available());
  EXPECT_EQ(rapl.lap(), 0.0);
  zone("intel-rapl:0", "package-0", "3000000");
  zone("intel-rapl:1", "package-1", "500000");  // wraps around: 1 J
  zone("intel-rapl:0:0", "core", "900000");
  zone("intel-rapl-mmio:0", "package-0", "3000000");
  EXPECT_DOUBLE_EQ(rapl.lap().value(), 3.0);
  EXPECT_EQ(rapl.lap(), 0.0);
}

TEST_F(Powercap, ACounterThatCannotBeReadAnyMoreGivesNoEnergy) {
  zone("intel-rapl:0", "package-0", "1000000");
  Rapl rapl(root());
  std::filesystem::remove(root() / "intel-rapl:0" / "energy_uj");
  EXPECT_EQ(rapl.lap(), std::nullopt);
}

TEST_F(Powercap, AMachineWithoutCountersSaysSo) {
  EXPECT_FALSE(Rapl(root()).available());
  EXPECT_FALSE(Rapl("/nowhere").available());
}

TEST(EnergyMeter, GivesEnergyExactlyWhereASourceIsNamed) {
  EnergyMeter meter;
  meter.start();
  const auto energy = meter.stop();
  EXPECT_EQ(energy.has_value(), meter.available());
  EXPECT_EQ(meter.source() == "not available", !meter.available());
  if (energy) {
    EXPECT_GE(energy->joules, 0.0);
  }
}

}  // namespace
}  // namespace spectr::bench
