#pragma once

#include <cstddef>
#include <cstdint>
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

/// What a model file says, read for one architecture: its metadata ARCH.NAME within bounds, and its tensors
/// by name and shape, as weights of the spec. It remembers what was asked for, so that nothing is silently
/// left out: in the end every key below ARCH. and every tensor must have been read or declared neutral.
/// Errors name the file, the key or tensor, and the value.
class ArchReader {
 public:
  /// Starts with a spec that has the file's names. All must outlive it.
  ArchReader(const Gguf& file, std::string_view architecture, const RopeChoice& rope, ModelSpec& spec);

  const Gguf& file() const { return file_; }
  /// What goes before the file's keys of rotary positions.
  const RopeChoice& rope_choice() const { return rope_; }
  ModelSpec& spec() { return spec_; }

  // Keys.

  /// "ARCH.NAME"
  std::string key(std::string_view name) const { return prefix_ + std::string(name); }
  bool has(std::string_view name) const { return file_.find(key(name)) != nullptr; }

  /// An integer from 1 to max; where the key is absent, that is an error or the fallback.
  Result<std::size_t> count(std::string_view name, std::uint64_t max);
  Result<std::size_t> count(std::string_view name, std::uint64_t max, std::size_t fallback);
  /// The same where the key is there and not 0; else 0.
  Result<std::size_t> count_or_none(std::string_view name, std::uint64_t max);
  /// The same as count() for each layer, from an array or one number for all; `least` instead of 1. Requires:
  /// set_blocks().
  Result<std::vector<std::size_t>> counts(std::string_view name, std::uint64_t max, std::uint64_t least = 1);
  Result<std::vector<std::size_t>> counts(std::string_view name, std::uint64_t max,
                                          const std::vector<std::size_t>& fallback, std::uint64_t least = 1);
  /// A number from min to max.
  Result<float> real(std::string_view name, double min, double max);
  Result<float> real(std::string_view name, double min, double max, float fallback);
  Result<bool> boolean(std::string_view name, bool fallback);
  Result<std::string_view> string(std::string_view name, std::string_view fallback);
  /// Whether a key is there and has several values.
  bool is_array(std::string_view name) const;
  /// Those of an array of booleans, for each layer. Requires: set_blocks().
  Result<std::vector<bool>> booleans(std::string_view name);

  /// The file has so many blocks, of which the first `layers` are the model's: spec().layers are as many. The
  /// others' tensors are left out, and the spec notes it; so are the values that arrays have for them.
  void set_blocks(std::size_t blocks, std::size_t layers);
  /// All of the file's blocks become layers, of which the first `own` are the model's: the others predict
  /// further tokens, and have attention. Their tensors `nextn.` are left to the caller.
  void set_all_blocks(std::size_t blocks, std::size_t own);
  /// Layers that are the model's own.
  std::size_t own_layers() const { return own_layers_; }

  /// Keys that no pass depends on, whatever their values.
  void ignore(std::initializer_list<std::string_view> names);
  /// A key that may only have the value that leaves the computation as it is, unless it was read before.
  /// Error: it has another one.
  Result<void> neutral(std::string_view name, double value);
  /// A key that says what a model has but no engine computes, unless it was read before: it is left out, and
  /// the spec notes it.
  void leave_out(std::string_view name);
  /// The same for a key whose other values need a feature that a backend may have; `needed` says whether it
  /// has one.
  void require_if(bool needed, Feature feature, std::string_view name);
  /// Error: a key below ARCH. that none of these calls named.
  Result<void> end_of_keys() const;

  // Tensors.

  enum class Bias { optional, required };

  bool has_tensor(std::string_view name) const { return file_.tensor(name) != nullptr; }
  /// The rows [first, first + count) of a tensor [rows, cols].
  Result<WeightId> rows_of(std::string_view name, std::size_t rows, std::size_t cols, std::size_t first,
                           std::size_t count);
  /// The same transposed, a matrix [cols, count]; quantized numbers become F16.
  Result<WeightId> transposed_rows_of(std::string_view name, std::size_t rows, std::size_t cols,
                                      std::size_t first, std::size_t count);
  Result<WeightId> matrix(std::string_view name, std::size_t rows, std::size_t cols);
  Result<WeightId> vector(std::string_view name, std::size_t size);
  /// All numbers of a small tensor [rows, cols], or `count` of them from `first` on.
  Result<WeightId> table(std::string_view name, std::size_t rows, std::size_t cols);
  Result<WeightId> part_of_table(std::string_view name, std::size_t rows, std::size_t cols, std::size_t first,
                                 std::size_t count);
  /// The rows of a tensor [rows, cols] that are named, in this order.
  Result<WeightId> chosen_rows(std::string_view name, std::size_t rows, std::size_t cols,
                               std::vector<Token> chosen);
  /// PREFIX.weight and PREFIX.bias.
  Result<LinearSpec> linear(const std::string& prefix, std::size_t out, std::size_t in, Bias bias);
  /// Of both the rows [first, first + out) of `all`.
  Result<LinearSpec> part_of_linear(const std::string& prefix, std::size_t all, std::size_t in, Bias bias,
                                    std::size_t first, std::size_t out);
  Result<NormSpec> norm(const std::string& prefix, std::size_t size, NormSpec::Kind kind, float epsilon);
  /// The numbers of a small tensor of `size` numbers, or of a matrix [rows, cols]; empty where it is absent.
  Result<std::vector<float>> numbers(std::string_view name, std::size_t size) {
    return numbers(name, 1, size);
  }
  Result<std::vector<float>> numbers(std::string_view name, std::size_t rows, std::size_t cols);
  /// A tensor that may be there, and that no pass reads.
  void leave_out_tensor(std::string_view name);
  /// Error: a tensor that none of these calls named, of the model's blocks.
  Result<void> end_of_tensors() const;

 private:
  std::string mark(std::string_view name);
  Result<const GgufTensor*> find(std::string_view name, std::size_t rows, std::size_t cols);
  WeightId add(WeightSpec weight);
  bool is_left_out(std::string_view tensor) const;

  const Gguf& file_;
  const RopeChoice& rope_;
  ModelSpec& spec_;
  std::string prefix_;
  std::size_t blocks_ = 0, own_layers_ = 0;          // of the file, and of them the model's layers
  std::unordered_set<std::string, KeyedHash> keys_;  // that were asked for
  std::unordered_set<std::string_view, KeyedHash> tensors_;
};

}  // namespace spectr
