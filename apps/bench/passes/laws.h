#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spectr/transport/distribution.h"

namespace spectr::bench {

/// A draft's distribution and its target's.
struct Distributions {
  Distribution p, q;
};

/// A kind of pairs of distributions, all of them dense, by its name.
struct LawKind {
  std::string_view name;
  Distributions (*make)(std::size_t vocabulary, std::uint32_t seed);
};

/// Both uniform on the simplex, independent of each other: no token matters much more than another.
Distributions random_laws(std::size_t vocabulary, std::uint32_t seed);

/// As language models give them: logits fall with the logarithm of a token's rank (Zipf and Mandelbrot), and
/// each model adds noise of its own. Few tokens have nearly all mass; of 150,000 about half are below 1e-12.
Distributions language_laws(std::size_t vocabulary, std::uint32_t seed);

inline constexpr std::array law_kinds = {LawKind{"random", random_laws}, LawKind{"language", language_laws}};

/// What is left of both, as of logits log p and log q, by the filters that are on by default.
/// Requires: a token of positive probability in each.
Distributions filtered(const Distributions& laws);

}  // namespace spectr::bench
