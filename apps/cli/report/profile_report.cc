#include "apps/cli/report/profile_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "apps/plot/data_table.h"

namespace spectr::cli {
namespace {

/// Calls `each` with every operation of the passes and its total.
template <class Each>
void for_each_operation(const PassProfile& profile, Each each) {
  for (std::size_t i = 0; i < operation_count; ++i) {
    const auto operation = static_cast<Operation>(i);
    if (profile[operation].calls > 0) each(operation, profile[operation]);
  }
}

std::string number(double amount) {
  return amount > 0.0 ? fmt::format("{:.1f}", amount) : "";
}

std::string rate(double amount, double seconds) {
  return seconds > 0.0 ? number(amount / seconds * 1e-9) : "";
}

/// Returns the roof that limits an operation and the share of its time that the roof accounts for.
std::vector<std::string> roof(const PassProfile::Total& total, const MachineSpeed& machine) {
  const double reading = total.work.reading_seconds(machine),
               multiplying = total.work.multiplying_seconds(machine);
  if (std::max(reading, multiplying) == 0.0) return {"", ""};
  return {reading >= multiplying ? "memory" : "products",
          fmt::format("{:.0f} %", 100.0 * std::max(reading, multiplying) / total.seconds)};
}

}  // namespace

ProfileReport::ProfileReport(std::vector<Model> models, ThreadPool& pool)
    : models_(std::move(models)), machine_(measure_machine_speed(pool)) {}

Json ProfileReport::json() const {
  Json models = Json::array();
  for (const auto& [role, name_of_model, profile] : models_) {
    Json operations = Json::array();
    for_each_operation(profile, [&](Operation operation, const PassProfile::Total& total) {
      const double reading = total.work.reading_seconds(machine_),
                   multiplying = total.work.multiplying_seconds(machine_);
      operations.push_back({{"name", name_of(operation)},
                            {"formats", total.formats},
                            {"calls", total.calls},
                            {"seconds", total.seconds},
                            {"bytes", total.work.bytes},
                            {"products", total.work.macs},
                            {"least_seconds", std::max(reading, multiplying)}});
    });
    models.push_back({{"role", role},
                      {"name", name_of_model},
                      {"passes", profile.passes()},
                      {"rows", profile.rows()},
                      {"seconds", profile.seconds()},
                      {"seconds_beside_products", profile.seconds_beside_products()},
                      {"operations", std::move(operations)}});
  }
  return {{"read_gbps", machine_.bytes * 1e-9},
          {"integer_gops", machine_.integer_macs * 1e-9},
          {"float_gops", machine_.float_macs * 1e-9},
          {"instruction_set", instruction_set()},
          {"models", std::move(models)}};
}

void ProfileReport::print(std::FILE* out) const {
  fmt::print(out,
             "\nroofline    {}: {:.1f} GB/s from memory, {:.0f} and {:.0f} thousand million products of "
             "integers and of floats a second\n",
             instruction_set(), machine_.bytes * 1e-9, machine_.integer_macs * 1e-9,
             machine_.float_macs * 1e-9);
  for (const auto& [role, name_of_model, profile] : models_) {
    const double all = profile.seconds();
    if (profile.passes() == 0) continue;
    const auto passes = static_cast<double>(profile.passes());
    std::vector<std::vector<std::string>> lines;
    for_each_operation(profile, [&](Operation operation, const PassProfile::Total& total) {
      const Work& work = total.work;
      std::vector<std::string> line = {std::string(name_of(operation)),
                                       total.formats,
                                       fmt::format("{:.2f}", 1e3 * total.seconds),
                                       fmt::format("{:.1f} %", 100.0 * total.seconds / all),
                                       number(1e-6 * work.bytes / passes),
                                       rate(work.bytes, total.seconds),
                                       number(1e-6 * work.macs / passes),
                                       rate(work.macs, total.seconds)};
      std::ranges::move(roof(total, machine_), std::back_inserter(line));
      lines.push_back(std::move(line));
    });
    fmt::print(out,
               "\n{} {}: {} passes over {} rows, {:.1f} ms; {:.1f} % of it beside products with weights\n{}",
               role, name_of_model, profile.passes(), profile.rows(), 1e3 * all,
               100.0 * profile.seconds_beside_products() / all,
               plot::aligned({"operation", "weights", "ms", "share", "MB a pass", "GB/s", "Mop a pass",
                              "Gop/s", "bound by", "of that"},
                             lines));
  }
}

}  // namespace spectr::cli
