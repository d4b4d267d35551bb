#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "apps/support/json.h"
#include "spectr/backend/sharded/split.h"

namespace spectr::bench {

/// The network between ranks.
struct Network {
  double latency;           ///< one-way time of an empty message in seconds
  double bytes_per_second;  ///< per rank and direction (full duplex)
};

/// Predicted seconds of the exchanges of a pass, as the ranks of a job perform them (backend/sharded). A
/// message of b bytes takes t(b) = latency + b / bytes_per_second.

/// Returns the time of an all-reduce of b bytes on n ranks: t((n − 1) b) for an all-to-all exchange, or 2
/// t((n − 1) b / n) by parts for more than one_exchange_bytes on more than two ranks.
double sum_seconds(const Network& network, std::size_t ranks, double bytes);
/// Returns the time of a message from a rank to another.
double hop_seconds(const Network& network, double bytes);

/// The dimensions of a model that determine its exchanges.
struct Shape {
  std::size_t layers, width;
};

/// Returns the time of a pass on n ranks that one rank computes in `alone` seconds, with equal shares: with
/// Split::rows alone / n + t(0) for the command + (2 layers + 1) all-reduces of rows × width numbers, with
/// Split::layers alone + n messages of the same size.
double pass_seconds(const Network& network, std::size_t ranks, Split split, const Shape& shape,
                    std::size_t rows, double alone);

/// Returns the latency below which Split::rows is faster than Split::layers; negative if it never is.
double break_even_latency(double bytes_per_second, std::size_t ranks, const Shape& shape, std::size_t rows,
                          double alone);

/// Measurements on one rank, the input of extrapolate().
struct OneRank {
  double bits_per_weight;
  double bytes_per_second;     ///< bandwidth of reading weights in a pass of one row
  double relative_eight_rows;  ///< time of a pass of eight rows relative to one row
};

/// Predicts passes of models of 8, 70 and 405 billion weights on 2, 4 and 8 such machines, with networks of
/// 1, 10 and 100 Gbit/s and latencies of 50, 10 and 2 µs. Nothing is measured. Returns rows {model, gbps,
/// latency_us, machines, width, row_ms, layer_ms, break_even_us}.
Json extrapolate(const OneRank& measured);

}  // namespace spectr::bench
