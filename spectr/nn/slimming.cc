#include "spectr/nn/slimming.h"

#include <algorithm>
#include <string>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/gguf/dequantize.h"
#include "spectr/gguf/quantize.h"

namespace spectr {
namespace {

Result<void> change_type(ModelSpec& spec, WeightId id, TensorType type) {
  WeightSpec& weight = spec.weights[id];
  const TensorFormat& format = format_of(type);
  if (weight.cols % format.elements != 0) {
    return error("{}: tensor {} has {} columns: it can't be made {}, whose blocks have {}", spec.file,
                 weight.name, weight.cols, format.name, format.elements);
  }
  weight.type = type;
  return {};
}

std::size_t bytes_of(TensorType type, std::size_t numbers) {
  const TensorFormat& format = format_of(type);
  return numbers / format.elements * format.bytes;
}

/// The bytes of `cols` numbers of a tensor from a multiple of them on.
std::span<const std::byte> row_bytes(const GgufTensor& tensor, std::size_t row, std::size_t cols) {
  const std::size_t size = bytes_of(static_cast<TensorType>(tensor.type), cols);
  return tensor.bytes.subspan(row * size, size);
}

}  // namespace

Result<void> slim(ModelSpec& spec, const Slimming& how) {
  if (!how.shortlist.empty()) {
    SPECTR_CHECK(std::ranges::is_sorted(how.shortlist) && how.shortlist.front() >= 0);
    SPECTR_CHECK(static_cast<std::size_t>(how.shortlist.back()) < spec.vocabulary);
    LinearSpec& output = spec.head.output;
    const auto choose = [&](WeightId id) {
      WeightSpec chosen = spec.weights[id];
      (chosen.is_vector ? chosen.cols : chosen.rows) = how.shortlist.size();
      chosen.chosen = how.shortlist;
      if (id == spec.embed.tokens) {  // which stays as it is
        spec.weights.push_back(std::move(chosen));
        return static_cast<WeightId>(spec.weights.size() - 1);
      }
      spec.weights[id] = std::move(chosen);
      return id;
    };
    output.weight = choose(output.weight);
    if (output.bias) output.bias = choose(*output.bias);
    output.out = how.shortlist.size();
    spec.head.shortlist = how.shortlist;
    spec.requirements.push_back({Feature::shortlist, fmt::format("{} of {} tokens are chosen for the head",
                                                                 output.out, spec.vocabulary)});
  }
  if (!how.type) return {};
  if (std::ranges::find(quantizable_types(), *how.type) == quantizable_types().end()) {
    std::string names;
    for (const TensorType type : quantizable_types())
      names += fmt::format("{}{}", names.empty() ? "" : ", ", format_of(type).name);
    return error("{}: matrices can't be made {}, but {}", spec.file, format_of(*how.type).name, names);
  }
  std::vector<WeightId> ids;
  for_each_linear(spec, [&ids](const LinearSpec& linear, double) { ids.push_back(linear.weight); });
  for (const LayerSpec& layer :
       spec.layers) {  // routers are small, and what they choose is not a matter of size
    if (layer.experts) std::erase(ids, layer.experts->router.weight);
  }
  for (const WeightId id : ids) SPECTR_TRY_VOID(change_type(spec, id, *how.type));
  return {};
}

std::vector<std::byte> changed_bytes(const GgufTensor& tensor, const WeightSpec& weight, ThreadPool* pool) {
  const std::size_t cols = weight.is_vector ? 1 : weight.cols;
  const std::size_t rows = weight.is_vector ? weight.cols : weight.rows;
  const auto from = static_cast<TensorType>(tensor.type);
  std::vector<std::byte> out(bytes_of(weight.type, rows * cols));
  const std::size_t row_size = bytes_of(weight.type, cols);
  const auto change = [&](std::size_t begin, std::size_t end) {
    std::vector<float> numbers(weight.type == from ? 0 : cols);
    for (std::size_t i = begin; i < end; ++i) {
      const auto row = weight.chosen.empty() ? weight.first + i : static_cast<std::size_t>(weight.chosen[i]);
      const std::span<const std::byte> bytes = row_bytes(tensor, row, cols);
      const auto to = std::span(out).subspan(i * row_size, row_size);
      if (weight.type == from) {
        std::ranges::copy(bytes, to.begin());
      } else {
        dequantize(from, bytes, numbers);
        quantize(weight.type, numbers, to);
      }
    }
  };
  if (pool != nullptr && !weight.is_vector) {
    pool->parallel_for(rows, 16, change);
  } else {
    change(0, rows);
  }
  return out;
}

void read_numbers(const GgufTensor& tensor, std::size_t row, std::span<float> out) {
  dequantize(static_cast<TensorType>(tensor.type), row_bytes(tensor, row, out.size()), out);
}

}  // namespace spectr
