#include "spectr/nn/arch/arch_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "spectr/base/names.h"
#include "spectr/gguf/dequantize.h"
#include "spectr/gguf/inspect.h"
#include "spectr/gguf/stored_format.h"

namespace spectr {

ArchReader::ArchReader(const Gguf& file, std::string_view architecture, const RopeChoice& rope,
                       ModelSpec& spec)
    : file_(file), rope_(rope), spec_(spec), prefix_(std::string(architecture) + '.') {}

std::string ArchReader::mark(std::string_view name) {
  return *keys_.insert(key(name)).first;
}

Result<std::size_t> ArchReader::count(std::string_view name, std::uint64_t max) {
  const std::string key = mark(name);
  SPECTR_TRY(const std::uint64_t value, file_.integer(key));
  if (value < 1 || value > max) {
    return error("{}: {} is {}, but must be from 1 to {}", file_.name(), key, value, max);
  }
  return static_cast<std::size_t>(value);
}

Result<std::size_t> ArchReader::count(std::string_view name, std::uint64_t max, std::size_t fallback) {
  if (!has(name)) return fallback;
  return count(name, max);
}

Result<std::size_t> ArchReader::count_or_none(std::string_view name, std::uint64_t max) {
  const std::string key = mark(name);
  SPECTR_TRY(const std::uint64_t value, file_.integer(key, 0));
  if (value == 0) return std::size_t{0};
  return count(name, max);
}

Result<std::vector<std::size_t>> ArchReader::counts(std::string_view name, std::uint64_t max,
                                                    std::uint64_t least) {
  const std::string key = mark(name);
  const GgufValue* value = file_.find(key);
  if (value == nullptr || !std::holds_alternative<GgufArray>(*value)) {
    SPECTR_TRY(const std::size_t one, count(name, max));
    return std::vector<std::size_t>(spec_.layers.size(), one);
  }
  SPECTR_TRY(const std::vector<std::int64_t> values, file_.integers(key));
  if (values.size() != blocks_) {
    return error("{}: {} has {} values for {} layers", file_.name(), key, values.size(), blocks_);
  }
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < spec_.layers.size(); ++i) {
    if (std::cmp_less(values[i], least) || std::cmp_greater(values[i], max)) {
      return error("{}: {} is {} in layer {}, but must be from {} to {}", file_.name(), key, values[i], i,
                   least, max);
    }
    counts.push_back(static_cast<std::size_t>(values[i]));
  }
  return counts;
}

Result<std::vector<std::size_t>> ArchReader::counts(std::string_view name, std::uint64_t max,
                                                    const std::vector<std::size_t>& fallback,
                                                    std::uint64_t least) {
  if (!has(name)) return fallback;
  return counts(name, max, least);
}

void ArchReader::set_blocks(std::size_t blocks, std::size_t layers) {
  blocks_ = blocks;
  own_layers_ = layers;
  spec_.layers.resize(layers);
  if (layers < blocks) {
    spec_.notes.push_back(fmt::format("blocks from {} on predict further tokens; they are not used", layers));
  }
}

bool lacks_own_blocks(const Gguf& file) {
  const auto starts = [&file](std::string_view prefix) {
    return std::ranges::any_of(
        file.tensors(), [prefix](const GgufTensor& tensor) { return tensor.name.starts_with(prefix); });
  };
  return starts("blk.") && !starts("blk.0.");
}

void ArchReader::set_all_blocks(std::size_t blocks, std::size_t own) {
  blocks_ = blocks;
  own_layers_ = own;
  lacks_own_blocks_ = lacks_own_blocks(file_);
  spec_.layers.resize(blocks);
  for (const GgufTensor& tensor : file_.tensors()) {
    if (tensor.name.find(".nextn.") != std::string_view::npos) tensors_.insert(tensor.name);
  }
}

Result<float> ArchReader::real(std::string_view name, double min, double max) {
  const std::string key = mark(name);
  SPECTR_TRY(const double value, file_.real(key));
  if (!(value >= min && value <= max)) {  // NaN fails every comparison
    return error("{}: {} is {}, but must be from {} to {}", file_.name(), key, value, min, max);
  }
  return static_cast<float>(value);
}

Result<float> ArchReader::real(std::string_view name, double min, double max, float fallback) {
  if (!has(name)) return fallback;
  return real(name, min, max);
}

Result<bool> ArchReader::boolean(std::string_view name, bool fallback) {
  return file_.boolean(mark(name), fallback);
}

Result<std::string_view> ArchReader::string(std::string_view name, std::string_view fallback) {
  return file_.string(mark(name), fallback);
}

bool ArchReader::is_array(std::string_view name) const {
  const GgufValue* value = file_.find(key(name));
  return value != nullptr && std::holds_alternative<GgufArray>(*value);
}

Result<std::vector<bool>> ArchReader::booleans(std::string_view name) {
  const std::string key = mark(name);
  const GgufValue* value = file_.find(key);
  const auto* array = value == nullptr ? nullptr : std::get_if<GgufArray>(value);
  if (array == nullptr || array->type != GgufType::boolean) {
    return value == nullptr ? error("{}: {} is missing", file_.name(), key)
                            : file_.wrong_type(key, "an array of booleans");
  }
  std::vector<bool> values;
  for (const std::byte byte : array->bytes) values.push_back(byte != std::byte{0});
  if (values.size() != blocks_) {
    return error("{}: {} has {} values for {} layers", file_.name(), key, values.size(), blocks_);
  }
  values.resize(spec_.layers.size());
  return values;
}

void ArchReader::ignore(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) mark(name);
}

Result<void> ArchReader::neutral(std::string_view name, double value) {
  if (!keys_.insert(key(name)).second || !has(name)) return {};
  const std::string key = this->key(name);
  double found = 0;
  if (const auto integer = file_.integer(key)) {
    found = static_cast<double>(*integer);
  } else {
    SPECTR_TRY(found, file_.real(key));
  }
  const double rounding = 1e-6 * std::abs(value);  // rounding of floats
  if (std::abs(found - value) <= rounding) return {};
  return error(ErrorCode::unsupported, "{}: {} is {}, which is not supported", file_.name(), key, found);
}

void ArchReader::leave_out(std::string_view name) {
  if (keys_.contains(key(name)) || !has(name)) return;
  const std::string key = mark(name);
  spec_.notes.push_back(fmt::format("{} is {}, which is not applied", key, describe(*file_.find(key))));
}

void ArchReader::require_if(bool needed, Feature feature, std::string_view name) {
  const std::string key = mark(name);
  if (!needed) return;
  const GgufValue* value = file_.find(key);
  spec_.requirements.push_back(
      {feature, value != nullptr ? fmt::format("{} is {}", key, describe(*value))
                                 : fmt::format("general.architecture is {}", spec_.architecture)});
}

Result<void> ArchReader::end_of_keys() const {
  for (const std::string_view key : file_.keys()) {
    if (!key.starts_with(prefix_) || keys_.contains(std::string(key))) continue;
    return error("{}: {} is {}: models of architecture {} are not known to have this key", file_.name(),
                 escape(key), describe(*file_.find(key)), spec_.architecture);
  }
  return {};
}

const GgufTensor* ArchReader::tensor_or_absent(std::string_view name, std::size_t rows, std::size_t cols) {
  const GgufTensor* tensor = file_.tensor(name);
  if (tensor != nullptr || !lacks_own_blocks_) return tensor;
  for (std::size_t i = 0; i < own_layers_; ++i) {
    if (name.starts_with(fmt::format("blk.{}.", i))) {
      return &absent_.emplace_back(
          GgufTensor{"", static_cast<std::uint32_t>(TensorType::f32), {cols, rows, 1, 1}, {}});
    }
  }
  return nullptr;
}

Result<const GgufTensor*> ArchReader::find(std::string_view name, std::size_t rows, std::size_t cols) {
  const GgufTensor* tensor = tensor_or_absent(name, rows, cols);
  if (tensor == nullptr) return error("{}: tensor {} is missing", file_.name(), name);
  tensors_.insert(tensor->name);
  if (!tensor_format(tensor->type)) {
    return error(ErrorCode::unsupported, "{}: tensor {} is {}; supported are {}", file_.name(), name,
                 stored_format(tensor->type)->name, supported_formats());
  }
  if (tensor->rows() != rows || tensor->cols() != cols) {
    return error("{}: tensor {} is {} × {}, expected {} × {}", file_.name(), name, tensor->rows(),
                 tensor->cols(), rows, cols);
  }
  return tensor;
}

WeightId ArchReader::add(WeightSpec weight) {
  spec_.weights.push_back(std::move(weight));
  return static_cast<WeightId>(spec_.weights.size() - 1);
}

Result<WeightId> ArchReader::rows_of(std::string_view name, std::size_t rows, std::size_t cols,
                                     std::size_t first, std::size_t count) {
  SPECTR_TRY(const GgufTensor* tensor, find(name, rows, cols));
  return add({std::string(name), static_cast<TensorType>(tensor->type), count, cols, first});
}

Result<WeightId> ArchReader::transposed_rows_of(std::string_view name, std::size_t rows, std::size_t cols,
                                                std::size_t first, std::size_t count) {
  SPECTR_TRY(const GgufTensor* tensor, find(name, rows, cols));
  const auto stored = static_cast<TensorType>(tensor->type);
  const TensorType type = format_of(stored).elements == 1 ? stored : TensorType::f16;
  WeightSpec weight{std::string(name), type, cols, count, first};
  weight.transposed = true;
  return add(std::move(weight));
}

Result<WeightId> ArchReader::matrix(std::string_view name, std::size_t rows, std::size_t cols) {
  return rows_of(name, rows, cols, 0, rows);
}

Result<WeightId> ArchReader::vector(std::string_view name, std::size_t size) {
  SPECTR_TRY(const GgufTensor* tensor, find(name, 1, size));
  return add({std::string(name), static_cast<TensorType>(tensor->type), 1, size, 0, true});
}

Result<WeightId> ArchReader::table(std::string_view name, std::size_t rows, std::size_t cols) {
  return part_of_table(name, rows, cols, 0, rows * cols);
}

Result<WeightId> ArchReader::part_of_table(std::string_view name, std::size_t rows, std::size_t cols,
                                           std::size_t first, std::size_t count) {
  SPECTR_TRY(const GgufTensor* tensor, find(name, rows, cols));
  if (const std::size_t elements = tensor_format(tensor->type)->elements;
      first % elements + count % elements > 0) {
    return error("{}: tensor {} is {}, whose blocks of {} numbers cannot be split at {}", file_.name(), name,
                 tensor_format(tensor->type)->name, elements, first + count);
  }
  return add({std::string(name), static_cast<TensorType>(tensor->type), 1, count, first, true});
}

Result<WeightId> ArchReader::chosen_rows(std::string_view name, std::size_t rows, std::size_t cols,
                                         std::vector<Token> chosen) {
  SPECTR_TRY(const GgufTensor* tensor, find(name, rows, cols));
  const std::size_t count = chosen.size();
  return add(
      {std::string(name), static_cast<TensorType>(tensor->type), count, cols, 0, false, std::move(chosen)});
}

Result<LinearSpec> ArchReader::linear(const std::string& prefix, std::size_t out, std::size_t in, Bias bias) {
  return part_of_linear(prefix, out, in, bias, 0, out);
}

Result<LinearSpec> ArchReader::part_of_linear(const std::string& prefix, std::size_t all, std::size_t in,
                                              Bias bias, std::size_t first, std::size_t out) {
  SPECTR_TRY(const WeightId weight, rows_of(prefix + ".weight", all, in, first, out));
  LinearSpec linear{weight, {}, out, in};
  const std::string name = prefix + ".bias";
  if (bias == Bias::required || has_tensor(name)) {
    SPECTR_TRY(linear.bias, part_of_table(name, 1, all, first, out));
  }
  return linear;
}

Result<NormSpec> ArchReader::norm(const std::string& prefix, std::size_t size, NormSpec::Kind kind,
                                  float epsilon) {
  SPECTR_TRY(const WeightId weight, vector(prefix + ".weight", size));
  NormSpec norm{kind, weight, {}, epsilon};
  if (kind == NormSpec::Kind::layer) {
    SPECTR_TRY(norm.bias, vector(prefix + ".bias", size));
  }
  return norm;
}

Result<std::vector<float>> ArchReader::numbers(std::string_view name, std::size_t rows, std::size_t cols) {
  if (!has_tensor(name)) return std::vector<float>{};
  SPECTR_TRY(const GgufTensor* tensor, find(name, rows, cols));
  std::vector<float> numbers(rows * cols);
  dequantize(static_cast<TensorType>(tensor->type), tensor->bytes, numbers);
  return numbers;
}

void ArchReader::leave_out_tensor(std::string_view name) {
  if (const GgufTensor* tensor = file_.tensor(name)) tensors_.insert(tensor->name);
}

/// True for tensors of the blocks after the model's layers.
bool ArchReader::is_left_out(std::string_view tensor) const {
  for (std::size_t i = spec_.layers.size(); i < blocks_; ++i) {
    if (tensor.starts_with(fmt::format("blk.{}.", i))) return true;
  }
  return false;
}

Result<void> ArchReader::end_of_tensors() const {
  for (const GgufTensor& tensor : file_.tensors()) {
    if (tensors_.contains(tensor.name) || is_left_out(tensor.name)) continue;
    return error("{}: tensor {} is not used by {} with {} layers", file_.name(), quote(tensor.name),
                 spec_.architecture, spec_.layers.size());
  }
  return {};
}

}  // namespace spectr
