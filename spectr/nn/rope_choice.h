#pragma once

#include <cstddef>
#include <optional>

namespace spectr {

/// Overrides of a model's rotary positions and their scaling; unset fields keep the values of the file. See
/// RopeScaling (arch/rope.h).
struct RopeChoice {
  enum class Scaling { none, linear, yarn };
  std::optional<Scaling> scaling = {};
  std::optional<float> base = {};
  std::optional<float> factor = {};                  ///< factor by which the context is extended
  std::optional<std::size_t> original_context = {};  ///< trained context, in tokens
  std::optional<float> share = {}, attention_factor = {}, beta_fast = {}, beta_slow = {};  ///< YaRN only

  friend bool operator==(const RopeChoice&, const RopeChoice&) = default;
};

}  // namespace spectr
