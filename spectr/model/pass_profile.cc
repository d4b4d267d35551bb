#include "spectr/model/pass_profile.h"

#include <ranges>

namespace spectr {

std::string_view name_of(Operation operation) {
  switch (operation) {
    case Operation::embedding:
      return "embedding";
    case Operation::norm:
      return "norms, residual";
    case Operation::query_key_value:
      return "q, k, v";
    case Operation::attention:
      return "attention";
    case Operation::attention_output:
      return "attention out";
    case Operation::gate_up:
      return "gate, up";
    case Operation::activation:
      return "activation";
    case Operation::down:
      return "down";
    case Operation::head:
      return "head";
  }
  return "";
}

Work& Work::operator+=(const Work& other) {
  bytes += other.bytes;
  products += other.products;
  integer_products += other.integer_products;
  return *this;
}

double Work::reading_seconds(const MachineSpeed& machine) const {
  return bytes / machine.bytes;
}

double Work::multiplying_seconds(const MachineSpeed& machine) const {
  return integer_products / machine.integer_products + (products - integer_products) / machine.float_products;
}

void PassProfile::begin(std::size_t rows) {
  ++passes_;
  rows_ += rows;
  watch_.lap();
}

void PassProfile::add(Operation operation, const Work& work) {
  Total& total = totals_[static_cast<std::size_t>(operation)];
  total.seconds += watch_.lap();
  total.work += work;
  ++total.calls;
}

void PassProfile::add(Operation operation, std::span<const Product> products) {
  Work work;
  for (const auto& [w, y] : products) {
    const auto pairs = static_cast<double>(y.rows() * w.rows() * w.cols());
    work += {static_cast<double>(w.bytes()), pairs, format_of(w.type()).is_quantised() ? pairs : 0.0};
    totals_[static_cast<std::size_t>(operation)].add_format(format_of(w.type()).name);
  }
  add(operation, work);
}

void PassProfile::Total::add_format(std::string_view format) {
  for (const auto word : std::views::split(formats, ' ')) {
    if (std::string_view(word) == format) return;
  }
  if (!formats.empty()) formats += ' ';
  formats += format;
}

double PassProfile::seconds() const {
  double sum = 0.0;
  for (const Total& total : totals_) sum += total.seconds;
  return sum;
}

double PassProfile::seconds_beside_products() const {
  double sum = 0.0;
  for (const Total& total : totals_) {
    if (total.formats.empty()) sum += total.seconds;
  }
  return sum;
}

}  // namespace spectr
