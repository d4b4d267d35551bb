#pragma once

#include <cstdint>

namespace spectr {

/// A token of a vocabulary: 0 … V−1. "No token" is std::nullopt, never a special value.
using Token = std::int32_t;

}  // namespace spectr
