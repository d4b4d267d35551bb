#include "spectr/model/hyperparameters.h"

#include <algorithm>
#include <iterator>

namespace spectr {

Hyperparameters::Hyperparameters(const Gguf& file, std::string_view architecture)
    : file_(file), prefix_(std::string(architecture) + '.') {}

Result<std::size_t> Hyperparameters::count(std::string_view name, std::uint64_t most) const {
  SPECTR_TRY(const auto value, same_in_all_layers(key(name)));
  if (value < 1 || value > most) {
    return error("{}: {} is {}, but must be from 1 to {}", file_.name(), key(name), value, most);
  }
  return static_cast<std::size_t>(value);
}

Result<std::size_t> Hyperparameters::count(std::string_view name, std::uint64_t most,
                                           std::size_t otherwise) const {
  if (!has(name)) return otherwise;
  return count(name, most);
}

Result<float> Hyperparameters::real(std::string_view name, double least, double most) const {
  SPECTR_TRY(const double value, file_.real(key(name)));
  if (!(value >= least && value <= most)) {  // not a number fails every comparison
    return error("{}: {} is {}, but must be from {} to {}", file_.name(), key(name), value, least, most);
  }
  return static_cast<float>(value);
}

Result<float> Hyperparameters::real(std::string_view name, double least, double most, float otherwise) const {
  if (!has(name)) return otherwise;
  return real(name, least, most);
}

Result<std::uint64_t> Hyperparameters::same_in_all_layers(const std::string& key) const {
  const GgufValue* value = file_.find(key);
  if (!value || !std::holds_alternative<GgufArray>(*value)) return file_.integer(key);
  SPECTR_TRY(const auto values, file_.integers(key));
  SPECTR_TRY(const auto layers, file_.integer(prefix_ + "block_count"));
  if (values.empty() || values.size() != layers) {
    return error("{}: {} has {} values for {} layers", file_.name(), key, values.size(), layers);
  }
  const auto other = std::ranges::find_if(values, [&](std::int64_t one) { return one != values.front(); });
  if (other != values.end()) {
    return error("{}: {} is {} in layer 0 and {} in layer {}; layers that differ are not supported",
                 file_.name(), key, values.front(), *other, other - values.begin());
  }
  if (values.front() < 0)
    return error("{}: {} is {}, but must not be negative", file_.name(), key, values.front());
  return static_cast<std::uint64_t>(values.front());
}

}  // namespace spectr
