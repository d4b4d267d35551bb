// The device, its driver and its clocks.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <memory>

#include "spectr/backend/device/copy_speed.h"
#include "tests/card/card.h"
#include "tests/support/value_of.h"

namespace spectr::card {
namespace {

/// Returns the lines that a command prints; none if it cannot be run.
std::vector<std::string> lines_of(const char* command) {
  std::vector<std::string> lines;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command, "r"), pclose);
  std::array<char, 512> line = {};
  while (pipe != nullptr && std::fgets(line.data(), line.size(), pipe.get()) != nullptr) {
    lines.emplace_back(line.data());
    while (lines.back().ends_with('\n')) lines.back().pop_back();
  }
  return lines;
}

}  // namespace

void describe(const Card& card, const Extent&, Report& report) {
  report.begin("card", {"name", "description", "MiB", "free MiB", "CUDA of the driver"});
  const DeviceInfo info = card.device->info();
  const int version = card.cuda != nullptr ? card.cuda->driver_version() : 0;
  report.row({info.name, info.description, info.bytes >> 20, info.free_bytes >> 20,
              version > 0 ? Json(fmt::format("{}.{}", version / 1000, version % 1000 / 10)) : Json()});
  if (card.cuda == nullptr) return;
  for (const std::string& line : lines_of(
           "nvidia-smi --format=csv "
           "--query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,clocks.max.mem,power.limit "
           "2>/dev/null"))
    report.note(line);
}

void measure_copies(const Card& card, const Extent&, Report& report) {
  report.begin("copies within its memory", {"GB/s read and written"});
  report.row({test::value_of(copy_speed(*card.device)) / 1e9});
}

}  // namespace spectr::card
