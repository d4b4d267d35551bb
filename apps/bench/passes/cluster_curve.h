#pragma once

#include <cstddef>
#include <vector>

#include "apps/support/json.h"
#include "spectr/backend/sharded/sharded_backend.h"
#include "spectr/nn/transformer.h"

namespace spectr::bench {

struct ClusterSettings {
  std::vector<std::size_t> widths = {1, 8};  ///< rows of a pass
  std::size_t depth = 256;                   ///< tokens of context before them
  std::size_t rounds = 5;
};

/// What exchanges between the ranks of a model cost: rows {ranks, bytes, sum_us, hop_us}, a sum over all of
/// them and a message from one to the next, of 4 bytes up to a million. Error: of the communicator.
Result<Json> measure_exchanges(ShardedBackend& ranks);

/// What passes cost: rows {ranks, split, width, ms, computing_ms, exchanges, exchange_us, predicted_ms}, of
/// the fastest of some rounds of several passes. `computing_ms` is what ranks do between exchanges: with
/// Split::rows the slowest one's, with Split::layers that of all. The prediction adds `exchanges` of
/// `exchange_us` each, measured by themselves; with Split::rows, the order, too. `ranks`: null where the
/// model is computed by one, for which ms is all that there is. Error: no widths, one that the vocabulary has
/// no tokens for, no room for the context, or the communicator's.
Result<Json> measure_shared_passes(const Transformer& model, ShardedBackend* ranks, Split split,
                                   const ClusterSettings& settings);

}  // namespace spectr::bench
