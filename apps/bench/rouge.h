#pragma once

#include <string_view>

namespace spectr::bench {

/// ROUGE-L (Lin, 2004): F₁ of the longest common subsequence of words,
///   2 LCS / (words of `text` + words of `reference`),
/// words being runs of letters and digits, in lower case. 0 if either has none. Cost: product of lengths.
double rouge_l(std::string_view text, std::string_view reference);

}  // namespace spectr::bench
