#pragma once

#include <string_view>
#include <vector>

namespace spectr {

/// How the final states of a sequence's tokens are reduced to one vector: not at all, to their mean, to the
/// first or the last of them, or to the scores of a classifier. The values are those of the file.
enum class Pooling { none, mean, cls, last, rank };
inline constexpr std::string_view pooling_names[] = {"none", "mean", "cls", "last", "rank"};

/// Scores a sequence by its first token's final state x: output tanh(dense x + b) + c, or output x + c
/// without a dense layer. It is small and computed on the host.
struct ClassifierSpec {
  std::vector<float> dense, dense_bias;    ///< [width, width] and [width]; empty: none
  std::vector<float> output, output_bias;  ///< [labels, width] and [labels]
};

}  // namespace spectr
