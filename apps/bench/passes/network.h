#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "apps/support/json.h"
#include "spectr/backend/sharded/split.h"

namespace spectr::bench {

/// What lies between ranks.
struct Network {
  double latency;           ///< seconds that a message of nothing is under way
  double bytes_per_second;  ///< that a rank sends, and receives at the same time
};

/// Seconds of the exchanges of a pass, by the way that ranks of a job go about them (backend/sharded).
/// t(b) = latency + b / bytes_per_second is a message of b bytes.

/// A sum of so many bytes on n ranks: t((n − 1) b), everybody to everybody, or, of more than
/// one_exchange_bytes on more than two ranks, 2 t((n − 1) b / n), by parts.
double sum_seconds(const Network& network, std::size_t ranks, double bytes);
/// A message from a rank to another.
double hop_seconds(const Network& network, double bytes);

/// A model as the exchanges see it.
struct Shape {
  std::size_t layers, width;
};

/// Seconds of a pass of so many rows that one rank computes in `alone` seconds, on n ranks that each compute
/// an equal part of it: with Split::rows alone / n + the order + (2 layers + 1) sums of rows × width numbers,
/// with Split::layers alone + n messages of as many.
double pass_seconds(const Network& network, std::size_t ranks, Split split, const Shape& shape,
                    std::size_t rows, double alone);

/// The latency up to which a pass is faster with Split::rows than with Split::layers; below 0: at none.
double break_even_latency(double bytes_per_second, std::size_t ranks, const Shape& shape, std::size_t rows,
                          double alone);

/// What was measured on one rank, for extrapolation.
struct OneRank {
  double bits_per_weight;
  double bytes_per_second;     ///< of weights that a pass of one row reads
  double relative_eight_rows;  ///< a pass of eight rows over one of a single row
};

/// Passes of models of 8, 70 and 405 billion weights on 2, 4 and 8 such machines behind networks of 1, 10 and
/// 100 Gbit/s with latencies of 50, 10 and 2 µs, none of it measured: rows {model, gbps, latency_us,
/// machines, width, row_ms, layer_ms, break_even_us}.
Json extrapolate(const OneRank& measured);

}  // namespace spectr::bench
