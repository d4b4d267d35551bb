#pragma once

#include <cstddef>
#include <memory>

#include "spectr/base/result.h"
#include "spectr/sampling/dry.h"
#include "spectr/text/tokenizer.h"

namespace spectr {

constexpr std::size_t max_sequence_breakers = 64;
constexpr std::size_t max_breaker_bytes = 40;

/// Returns all ways in which tokens can spell the sequence breakers of `dry`: a token that contains a
/// breaker, or a token that ends with its beginning, followed by tokens for the rest. Fails if there are too
/// many breakers, or one is empty or too long. Cost: O(V) for each breaker.
Result<std::shared_ptr<const SequenceBreakers>> find_sequence_breakers(const DryOptions& dry,
                                                                       const Tokenizer& tokenizer);

}  // namespace spectr
