#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "spectr/base/hash.h"
#include "spectr/base/result.h"
#include "spectr/gguf/gguf.h"
#include "spectr/nn/model_spec.h"
#include "spectr/nn/rope_choice.h"

namespace spectr {

/// Reads a model file for one architecture: its metadata ARCH.NAME within bounds, and its tensors by name and
/// shape, as weights of the spec. It records each request, so that nothing is ignored by accident: in the
/// end, every key below ARCH. and every tensor must have been read or declared neutral. Errors name the file,
/// the key or tensor, and the value.
class ArchReader {
 public:
  /// Starts with a spec that has the file's names. All arguments must outlive the reader.
  ArchReader(const Gguf& file, std::string_view architecture, const RopeChoice& rope, ModelSpec& spec);

  const Gguf& file() const { return file_; }
  /// Returns the overrides of the file's keys of rotary positions.
  const RopeChoice& rope_choice() const { return rope_; }
  ModelSpec& spec() { return spec_; }

  // Keys.

  /// Returns "ARCH.NAME".
  std::string key(std::string_view name) const { return prefix_ + std::string(name); }
  bool has(std::string_view name) const { return file_.find(key(name)) != nullptr; }

  /// Reads an integer from 1 to max. If the key is absent, returns the fallback or, without one, an error.
  Result<std::size_t> count(std::string_view name, std::uint64_t max);
  Result<std::size_t> count(std::string_view name, std::uint64_t max, std::size_t fallback);
  /// Reads such an integer; returns 0 if the key is absent or 0.
  Result<std::size_t> count_or_none(std::string_view name, std::uint64_t max);
  /// Reads an integer from `least` to max for each layer, from an array or from one number for all layers.
  /// Requires: set_blocks().
  Result<std::vector<std::size_t>> counts(std::string_view name, std::uint64_t max, std::uint64_t least = 1);
  Result<std::vector<std::size_t>> counts(std::string_view name, std::uint64_t max,
                                          const std::vector<std::size_t>& fallback, std::uint64_t least = 1);
  /// Reads a number from min to max.
  Result<float> real(std::string_view name, double min, double max);
  Result<float> real(std::string_view name, double min, double max, float fallback);
  Result<bool> boolean(std::string_view name, bool fallback);
  Result<std::string_view> string(std::string_view name, std::string_view fallback);
  /// True if the key is present and holds an array.
  bool is_array(std::string_view name) const;
  /// Reads an array of booleans, one for each layer. Requires: set_blocks().
  Result<std::vector<bool>> booleans(std::string_view name);

  /// Declares that the file has `blocks` blocks, of which the first `layers` become spec().layers. The
  /// tensors of the other blocks and their values in arrays are left out; the spec notes it.
  void set_blocks(std::size_t blocks, std::size_t layers);
  /// Makes all of the file's blocks layers. The first `own` are the model's own; the others predict further
  /// tokens and have attention. Their tensors `nextn.` are left to the caller. A file may lack the model's
  /// own blocks (lacks_own_blocks()), whose weights then stand for nothing.
  void set_all_blocks(std::size_t blocks, std::size_t own);
  /// Returns the number of the model's own layers.
  std::size_t own_layers() const { return own_layers_; }

  /// Accepts keys that no pass depends on, whatever their values.
  void ignore(std::initializer_list<std::string_view> names);
  /// Accepts a key, unless it was read before, only with the value that leaves the computation unchanged.
  /// Error: it has another value.
  Result<void> neutral(std::string_view name, double value);
  /// Accepts a key, unless it was read before, for something that models have but no engine computes: it is
  /// not applied, and the spec notes it.
  void leave_out(std::string_view name);
  /// Accepts a key that some value of needs a feature of the backend. If `needed`, that feature becomes a
  /// requirement of the spec.
  void require_if(bool needed, Feature feature, std::string_view name);
  /// Error: a key below ARCH. that none of these calls has named.
  Result<void> end_of_keys() const;

  // Tensors.

  enum class Bias { optional, required };

  bool has_tensor(std::string_view name) const { return file_.tensor(name) != nullptr; }
  /// Reads the rows [first, first + count) of a tensor [rows, cols].
  Result<WeightId> rows_of(std::string_view name, std::size_t rows, std::size_t cols, std::size_t first,
                           std::size_t count);
  /// Reads such rows transposed, as a matrix [cols, count]; quantized numbers become F16.
  Result<WeightId> transposed_rows_of(std::string_view name, std::size_t rows, std::size_t cols,
                                      std::size_t first, std::size_t count);
  Result<WeightId> matrix(std::string_view name, std::size_t rows, std::size_t cols);
  Result<WeightId> vector(std::string_view name, std::size_t size);
  /// Reads all numbers of a small tensor [rows, cols], or `count` of them from `first` on.
  Result<WeightId> table(std::string_view name, std::size_t rows, std::size_t cols);
  Result<WeightId> part_of_table(std::string_view name, std::size_t rows, std::size_t cols, std::size_t first,
                                 std::size_t count);
  /// Reads the chosen rows of a tensor [rows, cols], in the given order.
  Result<WeightId> chosen_rows(std::string_view name, std::size_t rows, std::size_t cols,
                               std::vector<Token> chosen);
  /// Reads PREFIX.weight and PREFIX.bias.
  Result<LinearSpec> linear(const std::string& prefix, std::size_t out, std::size_t in, Bias bias);
  /// Reads the rows [first, first + out) of the `all` rows of both.
  Result<LinearSpec> part_of_linear(const std::string& prefix, std::size_t all, std::size_t in, Bias bias,
                                    std::size_t first, std::size_t out);
  Result<NormSpec> norm(const std::string& prefix, std::size_t size, NormSpec::Kind kind, float epsilon);
  /// Reads a small tensor of `size` numbers, or a matrix [rows, cols]; returns nothing if it is absent.
  Result<std::vector<float>> numbers(std::string_view name, std::size_t size) {
    return numbers(name, 1, size);
  }
  Result<std::vector<float>> numbers(std::string_view name, std::size_t rows, std::size_t cols);
  /// Accepts a tensor that may be present and that no pass reads.
  void leave_out_tensor(std::string_view name);
  /// Error: a tensor of the model's blocks that none of these calls has named.
  Result<void> end_of_tensors() const;

 private:
  std::string mark(std::string_view name);
  /// Returns the tensor, or one without numbers, [rows, cols], if the file lacks its block; else null.
  const GgufTensor* tensor_or_absent(std::string_view name, std::size_t rows, std::size_t cols);
  Result<const GgufTensor*> find(std::string_view name, std::size_t rows, std::size_t cols);
  WeightId add(WeightSpec weight);
  bool is_left_out(std::string_view tensor) const;

  const Gguf& file_;
  const RopeChoice& rope_;
  ModelSpec& spec_;
  std::string prefix_;
  std::size_t blocks_ = 0, own_layers_ = 0;          // blocks of the file, and the model's own among them
  std::unordered_set<std::string, KeyedHash> keys_;  // requested keys
  std::unordered_set<std::string_view, KeyedHash> tensors_;
  bool lacks_own_blocks_ = false;
  std::deque<GgufTensor> absent_;  // tensors of blocks that the file lacks
};

/// True if the file lacks the blocks of the model and has only those that predict further tokens.
bool lacks_own_blocks(const Gguf& file);

}  // namespace spectr
