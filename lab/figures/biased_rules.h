#pragma once

#include <cstddef>

#include "lab/theory/over_acceptance.h"

namespace spectr::lab {

/// The two corrections and their names in data, plans, methods and legends.
struct BiasedRule {
  const char* name;
  const char* plan;
  const char* method;
  const char* title;
  Correction correction;
  std::size_t colour;
};
inline constexpr BiasedRule biased_rules[] = {
    {"opt", "epsilon-opt", "biased-opt", "OPT", Correction::opt, 0},
    {"uno", "epsilon-uno", "biased-uno", "UNO", Correction::uno, 1}};

}  // namespace spectr::lab
