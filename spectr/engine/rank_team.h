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

/// So many ranks in this process, each but the first with a pool of so many threads.
struct RanksHere {
  std::size_t ranks;
  int threads;
  /// Processors by memory (numa_nodes()): rank r runs on those of node r, or r less the number of nodes, and
  /// so on, and has its part of the model there; the first one runs where the caller and its pool do. Empty:
  /// all run anywhere.
  std::vector<std::vector<int>> nodes = {};
};

/// The first so many processes of a communicator that this one leads, which must outlive the model.
struct RanksOf {
  Communicator* communicator;
  std::size_t ranks;
};

/// Who shares a model, and how.
struct Sharing {
  std::variant<RanksHere, RanksOf> who;
  Split split = Split::rows;
};

/// Gets everybody ready to load a part of the model in `file`, which others open at `path`; to be asked
/// all_loaded() when this part is. What the ranks of this process need lives as long as the backend. The
/// pool, of the leader's part, must outlive it. Error: see ShardedBackend::call().
Result<std::shared_ptr<ShardedBackend>> call_ranks(const Sharing& sharing, const std::filesystem::path& path,
                                                   const Gguf& file, const KvChoice& kv,
                                                   const RopeChoice& rope, ThreadPool& pool);

}  // namespace spectr
