#include "apps/cli/profile_report.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "apps/bench/table.h"
#include "spectr/model/machine_speed.h"

namespace spectr::cli {
namespace {

/// Calls `each` with every operation that the passes did, and its total.
template <class Each>
void for_each_operation(const PassProfile& profile, Each each) {
  for (std::size_t i = 0; i < operation_count; ++i) {
    const auto operation = static_cast<Operation>(i);
    if (profile[operation].calls > 0) each(operation, profile[operation]);
  }
}

std::string rate(double amount, double seconds) {
  return amount > 0.0 && seconds > 0.0 ? fmt::format("{:.1f}", amount / seconds * 1e-9) : "";
}

}  // namespace

ProfileReport::ProfileReport(std::vector<Model> models, ThreadPool& pool)
    : models_(std::move(models)),
      bytes_per_second_(memory_bytes_per_second(pool)),
      integer_products_per_second_(integer_products_per_second(pool)) {}

Json ProfileReport::json() const {
  Json models = Json::array();
  for (const auto& [role, profile] : models_) {
    Json operations = Json::array();
    for_each_operation(profile, [&](Operation operation, const PassProfile::Total& total) {
      const double least = total.work.least_seconds(bytes_per_second_, integer_products_per_second_);
      operations.push_back({{"name", name(operation)},
                            {"formats", total.formats},
                            {"calls", total.calls},
                            {"seconds", total.seconds},
                            {"bytes", total.work.bytes},
                            {"products", total.work.products},
                            {"least_seconds", least}});
    });
    models.push_back({{"role", role},
                      {"passes", profile.passes()},
                      {"rows", profile.rows()},
                      {"seconds", profile.seconds()},
                      {"seconds_beside_products", profile.seconds_beside_products()},
                      {"operations", std::move(operations)}});
  }
  return {{"read_gbps", bytes_per_second_ * 1e-9},
          {"integer_gops", integer_products_per_second_ * 1e-9},
          {"instruction_set", instruction_set()},
          {"models", std::move(models)}};
}

void ProfileReport::print(std::FILE* out) const {
  fmt::print(
      out,
      "\nroofline    {}: memory is read at {:.1f} GB/s, {:.0f} thousand million integer products a second\n",
      instruction_set(), bytes_per_second_ * 1e-9, integer_products_per_second_ * 1e-9);
  for (const auto& [role, profile] : models_) {
    const double all = profile.seconds();
    if (profile.passes() == 0) continue;
    std::vector<std::vector<std::string>> lines;
    for_each_operation(profile, [&](Operation operation, const PassProfile::Total& total) {
      const double least = total.work.least_seconds(bytes_per_second_, integer_products_per_second_);
      lines.push_back({std::string(name(operation)), total.formats, std::to_string(total.calls),
                       fmt::format("{:.2f}", 1e3 * total.seconds),
                       fmt::format("{:.1f} %", 100.0 * total.seconds / all),
                       rate(total.work.bytes, total.seconds), rate(total.work.products, total.seconds),
                       least > 0.0 ? fmt::format("{:.0f} %", 100.0 * least / total.seconds) : ""});
    });
    fmt::print(
        out, "\n{}: {} passes over {} rows, {:.1f} ms; {:.1f} % of it beside products with weights\n{}", role,
        profile.passes(), profile.rows(), 1e3 * all, 100.0 * profile.seconds_beside_products() / all,
        bench::aligned({"operation", "weights", "calls", "ms", "share", "GB/s", "Gop/s", "of roofline"},
                       lines));
  }
}

}  // namespace spectr::cli
