#pragma once

#include <string_view>
#include <vector>

namespace spectr {

/// How the final states of a sequence's tokens become one vector: not at all, by their mean, as the first or
/// the last of them, or as the scores of a classifier. Numbered as in the file.
enum class Pooling { none, mean, cls, last, rank };
inline constexpr std::string_view pooling_names[] = {"none", "mean", "cls", "last", "rank"};

/// The scores of a sequence, of its first token's final state x: output tanh(dense x + b) + c, or output x +
/// c without a dense layer. Small, and computed in this process.
struct ClassifierSpec {
  std::vector<float> dense, dense_bias;    ///< [width, width] and [width]; empty: none
  std::vector<float> output, output_bias;  ///< [labels, width] and [labels]
};

}  // namespace spectr
