#include "spectr/nn/weights.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "spectr/gguf/dequantize.h"
#include "spectr/gguf/quantize.h"

namespace spectr {
namespace {

std::size_t bytes_of(TensorType type, std::size_t numbers) {
  const TensorFormat& format = format_of(type);
  return numbers / format.elements * format.bytes;
}

/// Location of a weight in its tensor. A vector counts as a column.
class StoredWeight {
 public:
  StoredWeight(const GgufTensor& tensor, const WeightSpec& weight)
      : weight_(weight),
        bytes_(tensor.bytes),
        type_(static_cast<TensorType>(tensor.type)),
        cols_(weight.is_vector ? 1 : weight.cols),
        stored_cols_(weight.stored_cols == 0 ? cols_ : weight.stored_cols) {}

  TensorType type() const { return type_; }
  std::size_t rows() const { return weight_.is_vector ? weight_.cols : weight_.rows; }
  std::size_t cols() const { return cols_; }
  /// Bytes of the weight in the file.
  std::size_t bytes() const { return bytes_of(type_, rows() * cols_); }
  bool is_as_stored() const {
    return type_ == weight_.type && weight_.chosen.empty() && cols_ == stored_cols_ && !weight_.transposed;
  }

  std::span<const std::byte> row(std::size_t i) const {
    const auto at = weight_.chosen.empty() ? weight_.first + i : static_cast<std::size_t>(weight_.chosen[i]);
    return bytes_.subspan(bytes_of(type_, at * stored_cols_ + weight_.first_col), bytes_of(type_, cols_));
  }
  /// Requires: is_as_stored().
  std::span<const std::byte> all() const {
    return bytes_.subspan(bytes_of(type_, weight_.first * cols_), bytes_of(type_, rows() * cols_));
  }

 private:
  const WeightSpec& weight_;
  std::span<const std::byte> bytes_;
  TensorType type_;
  std::size_t cols_, stored_cols_;
};

std::vector<std::byte> copy(const StoredWeight& stored, const WeightSpec& weight, ThreadPool* pool) {
  const std::size_t row_size = bytes_of(weight.type, stored.cols());
  std::vector<std::byte> out(bytes_of(weight.type, stored.rows() * stored.cols()));
  const auto change = [&](std::size_t begin, std::size_t end) {
    std::vector<float> numbers(weight.type == stored.type() ? 0 : stored.cols());
    for (std::size_t i = begin; i < end; ++i) {
      const auto to = std::span(out).subspan(i * row_size, row_size);
      if (weight.type == stored.type()) {
        std::ranges::copy(stored.row(i), to.begin());
      } else {
        dequantize(stored.type(), stored.row(i), numbers);
        quantize(weight.type, numbers, to);
      }
    }
  };
  if (pool != nullptr && !weight.is_vector) {
    pool->parallel_for(stored.rows(), 16, change);
  } else {
    change(0, stored.rows());
  }
  return out;
}

/// Returns a copy, in the weight's type, of a weight that is stored transposed.
std::vector<std::byte> transposed_copy(const GgufTensor& tensor, const WeightSpec& weight) {
  std::vector<float> row(weight.rows), numbers(weight.rows * weight.cols);
  for (std::size_t j = 0; j < weight.cols; ++j) {
    read_numbers(tensor, weight.first + j, row);
    for (std::size_t i = 0; i < weight.rows; ++i) numbers[i * weight.cols + j] = row[i];
  }
  std::vector<std::byte> out(bytes_of(weight.type, numbers.size()));
  quantize(weight.type, numbers, out);
  return out;
}

/// Returns the weights, largest first. A copied weight is in memory twice, so the largest come first.
std::vector<WeightId> largest_first(const ModelSpec& spec) {
  std::vector<WeightId> ids(spec.weights.size());
  std::iota(ids.begin(), ids.end(), WeightId{0});
  std::ranges::stable_sort(ids, std::greater(), [&spec](WeightId id) {
    const WeightSpec& weight = spec.weight(id);
    return bytes_of(weight.type, weight.rows * weight.cols);
  });
  return ids;
}

}  // namespace

std::vector<std::vector<std::byte>> upload_weights(std::span<const Gguf* const> files, const ModelSpec& spec,
                                                   Ops& ops, ThreadPool* pool,
                                                   const LoadingProgress& progress) {
  const auto file_of = [&](const WeightSpec& weight) -> const Gguf& {
    return *files[weight.of_target ? 1 : 0];
  };
  const auto stored_weight = [&](const WeightSpec& weight) {
    return StoredWeight(*file_of(weight).tensor(weight.name), weight);
  };
  std::uint64_t done = 0, all = 0;
  for (const WeightSpec& weight : spec.weights) all += stored_weight(weight).bytes();
  if (progress) progress(done, all);
  std::vector<std::vector<std::byte>> copies;
  for (const WeightId id : largest_first(spec)) {
    const WeightSpec& weight = spec.weights[id];
    const Gguf& file = file_of(weight);
    const StoredWeight stored = stored_weight(weight);
    if (stored.is_as_stored()) {
      const bool referred_to = ops.upload(id, stored.all());
      if (!referred_to) file.forget(stored.all());  // otherwise the weight would be in memory twice
    } else {
      std::vector<std::byte> bytes =
          weight.transposed ? transposed_copy(*file.tensor(weight.name), weight) : copy(stored, weight, pool);
      if (ops.upload(id, bytes)) copies.push_back(std::move(bytes));
      file.forget(file.tensor(weight.name)->bytes);
    }
    done += stored.bytes();
    if (progress) progress(done, all);
  }
  return copies;
}

void read_numbers(const GgufTensor& tensor, std::size_t row, std::span<float> out) {
  const auto type = static_cast<TensorType>(tensor.type);
  const std::size_t size = bytes_of(type, out.size());
  dequantize(type, tensor.bytes.subspan(row * size, size), out);
}

}  // namespace spectr
