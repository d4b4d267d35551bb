#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "apps/support/json.h"

namespace spectr::bench {

/// What settings are chosen by (MTAD, arXiv 2407.09722, appendix F: the best perplexity on a validation set).
struct Objective {
  std::string_view name;
  std::string_view summary;
  const char* field;  ///< of a row, whose `mean` counts where it has one
  bool largest;       ///< else the smallest is best
};
inline constexpr std::array objectives = {
    Objective{"perplexity", "the lowest perplexity under the target", "perplexity", false},
    Objective{"speed", "the largest speed-up over plain decoding", "speedup", true}};

/// Which of the rows of `bench methods` is best for each method with each draft model, in the order in which
/// methods come first; of equal ones the first. Rows that do not tell the figure do not count.
std::vector<std::size_t> best_rows(const Json& rows, const Objective& objective);

}  // namespace spectr::bench
