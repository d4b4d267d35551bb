#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <variant>
#include <vector>

#include "spectr/backend/sharded/sharded_backend.h"
#include "spectr/base/result.h"
#include "spectr/base/thread_pool.h"
#include "spectr/gguf/gguf.h"
#include "spectr/nn/kv_type.h"
#include "spectr/nn/rope_choice.h"

namespace spectr {

/// Ranks in this process; each but the first has a pool of `threads` threads.
struct RanksHere {
  std::size_t ranks;
  int threads;
  /// Processors by NUMA node (numa_nodes()): rank r runs on those of node r modulo the number of nodes, and
  /// has its part of the model there. The first rank runs where the caller and its pool do. Empty: no
  /// placement.
  std::vector<std::vector<int>> nodes = {};
};

/// The first `ranks` processes of a communicator that this one leads. It must outlive the model.
struct RanksOf {
  Communicator* communicator;
  std::size_t ranks;
};

/// The ranks that share a model, and how it is split.
struct Sharing {
  std::variant<RanksHere, RanksOf> who;
  Split split = Split::rows;
};

/// Prepares all ranks to load a part of the model in `file`, which others open at `path`. Call all_loaded()
/// once this rank's part is loaded. The backend owns the ranks of this process. The pool is for the leader's
/// part and must outlive the backend. Error: see ShardedBackend::call().
Result<std::shared_ptr<ShardedBackend>> call_ranks(const Sharing& sharing, const std::filesystem::path& path,
                                                   const Gguf& file, const KvChoice& kv,
                                                   const RopeChoice& rope, ThreadPool& pool);

}  // namespace spectr
