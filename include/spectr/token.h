// Tokens and random streams.
//
//     const spectr::Stream stream{.seed = 1, .stream = row, .block = step};
//
// Streams with equal members yield equal random numbers, on every machine and with any number of threads. Two
// calls whose choices must be independent need streams that differ in a member: for successive blocks of a
// sequence, increase `block`.
#pragma once

#include <spectr.h>

#include <cstdint>

namespace spectr::inline v0 {

/// The id of a token in a vocabulary, from 0.
using Token = std::int32_t;

/// A random stream. (seed, stream) is the key of its numbers, and `block` their position.
struct Stream {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
  std::uint64_t block = 0;
};

namespace detail {

inline spectr_stream stream_of(const Stream& stream) noexcept {
  return {stream.seed, stream.stream, stream.block};
}

}  // namespace detail
}  // namespace spectr::inline v0
