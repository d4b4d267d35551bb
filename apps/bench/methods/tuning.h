#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "apps/support/json.h"

namespace spectr::bench {

/// A criterion for choosing settings (MTAD, arXiv 2407.09722, appendix F: best validation perplexity).
struct Objective {
  std::string_view name;
  std::string_view summary;
  const char* field;  ///< member of a row, or its `mean` if it has one
  bool largest;       ///< true: maximize; false: minimize
};
inline constexpr std::array objectives = {
    Objective{"perplexity", "the lowest perplexity under the target", "perplexity", false},
    Objective{"speed", "the largest speed-up over plain decoding", "speedup", true}};

/// Returns the index of the best row of `bench methods` for each method and draft model, in order of first
/// occurrence. Ties go to the first row. Rows without the value are ignored.
std::vector<std::size_t> best_rows(const Json& rows, const Objective& objective);

}  // namespace spectr::bench
