#pragma once

#include <cstddef>

namespace spectr::lab {

/// A plan with its name in the table of plans, its title in legends and its colour, which is the same in all
/// pictures.
struct DrawnPlan {
  const char* name;
  const char* title;
  std::size_t colour;
};

inline constexpr DrawnPlan drawn_optimal{"optimal", "optimum", 0};
inline constexpr DrawnPlan drawn_k_seq{"k-seq", "k-Seq", 1};
inline constexpr DrawnPlan drawn_recursive{"recursive", "recursive rejection", 2};
inline constexpr DrawnPlan drawn_str_plus{"str+", "STr⁺", 3};
inline constexpr DrawnPlan drawn_str_plus_plus{"str++", "STr⁺⁺", 4};
inline constexpr DrawnPlan drawn_recursive_wor{"recursive-wor", "… without replacement", 5};

}  // namespace spectr::lab
