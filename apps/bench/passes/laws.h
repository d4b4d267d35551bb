#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spectr/transport/distribution.h"

namespace spectr::bench {

/// A draft distribution p and a target distribution q.
struct Distributions {
  Distribution p, q;
};

/// A kind of random pairs of dense distributions with its name.
struct LawKind {
  std::string_view name;
  Distributions (*make)(std::size_t vocabulary, std::uint32_t seed);
};

/// Returns two independent distributions, each uniform on the simplex: no token dominates.
Distributions random_laws(std::size_t vocabulary, std::uint32_t seed);

/// Returns distributions as language models have them: logits fall with the logarithm of the rank (Zipf and
/// Mandelbrot), plus noise per model. Few tokens have most mass; of 150,000, about half are below 1e-12.
Distributions language_laws(std::size_t vocabulary, std::uint32_t seed);

inline constexpr std::array law_kinds = {LawKind{"random", random_laws}, LawKind{"language", language_laws}};

/// Applies the default filters to both distributions, as logits log p and log q. Requires: a token of
/// positive probability in each.
Distributions filtered(const Distributions& laws);

}  // namespace spectr::bench
