#pragma once

#include <string_view>

namespace spectr {

/// Where a token of the output came from.
enum class Source {
  draft,       ///< drafted and kept
  correction,  ///< drawn from a residual (or by the target) after no draft was kept
  bonus,       ///< drawn from the target after every draft was kept
  target,      ///< drawn from the target where nothing was drafted
};

std::string_view name(Source source);

}  // namespace spectr
