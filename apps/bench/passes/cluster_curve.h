#pragma once

#include <cstddef>
#include <vector>

#include "apps/support/json.h"
#include "spectr/backend/sharded/sharded_backend.h"
#include "spectr/nn/transformer.h"

namespace spectr::bench {

struct ClusterSettings {
  std::vector<std::size_t> widths = {1, 8};  ///< rows per pass
  std::size_t depth = 256;                   ///< tokens of context before them
  std::size_t rounds = 5;
};

/// Measures exchanges between the ranks of a model. Returns rows {ranks, bytes, sum_us, hop_us}: an
/// all-reduce and a message to the next rank, for 4 bytes to 1 MiB. Fails if the communicator fails.
Result<Json> measure_exchanges(ShardedBackend& ranks);

/// Measures passes. Returns rows {ranks, split, width, ms, computing_ms, exchanges, exchange_us,
/// predicted_ms} for the fastest of several rounds of passes. `computing_ms` is the time between exchanges:
/// of the slowest rank with Split::rows, of all ranks with Split::layers. `predicted_ms` adds `exchanges`
/// times `exchange_us`, which is measured separately, and with Split::rows the command message. If `ranks` is
/// null, one rank computes the model and only `ms` is measured. Fails if there are no widths, a width exceeds
/// the vocabulary, the context does not fit, or the communicator fails.
Result<Json> measure_shared_passes(const Transformer& model, ShardedBackend* ranks, Split split,
                                   const ClusterSettings& settings);

}  // namespace spectr::bench
