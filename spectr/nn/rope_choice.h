#pragma once

#include <cstddef>
#include <optional>

namespace spectr {

/// How positions are to turn and to be stretched, instead of what a model's file says; none: as it says. See
/// RopeScaling (arch/rope.h).
struct RopeChoice {
  enum class Scaling { none, linear, yarn };
  std::optional<Scaling> scaling = {};
  std::optional<float> base = {};
  std::optional<float> factor = {};                  ///< how many times the context is stretched
  std::optional<std::size_t> original_context = {};  ///< of the training
  std::optional<float> share = {}, attention_factor = {}, beta_fast = {}, beta_slow = {};  ///< of YaRN

  friend bool operator==(const RopeChoice&, const RopeChoice&) = default;
};

}  // namespace spectr
