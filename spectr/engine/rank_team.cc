#include "spectr/engine/rank_team.h"

#include <chrono>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "spectr/backend/sharded/follower.h"
#include "spectr/backend/sharded/thread_communicator.h"
#include "spectr/base/numa.h"
#include "spectr/engine/backends.h"

namespace spectr {
namespace {

// Threads of one process are late if the machine has other work, but do not hang individually.
constexpr std::chrono::minutes patience(1);

/// The ranks of this process, and the backend that leads them.
class Team {
 public:
  explicit Team(std::size_t ranks) : communicators_(thread_communicators(ranks, patience)) {}
  ~Team() {
    lead_.reset();  // ends the other ranks
    communicators_.front().reset();
    for (std::thread& one : threads_) one.join();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  ShardedBackend& lead(std::unique_ptr<Backend> backend, Split split) {
    lead_ = std::make_unique<ShardedBackend>(std::move(backend), *communicators_.front(), split,
                                             communicators_.size());
    return *lead_;
  }

  /// Throws std::system_error if threads cannot be started.
  void start_others(const std::filesystem::path& path, const RanksHere& here) {
    for (std::size_t rank = 1; rank < communicators_.size(); ++rank) {
      std::optional<RunningOn> node;  // for the threads that start here
      if (!here.nodes.empty()) node.emplace(here.nodes[rank % here.nodes.size()]);
      auto pool = std::make_unique<ThreadPool>(here.threads);
      threads_.emplace_back([path, pool = std::move(pool), mine = std::move(communicators_[rank])] {
        try {
          const std::unique_ptr<Backend> backend = backends().front().make(*pool);
          (void)follow(*mine, *backend, [&path] { return Gguf::open(path); }, pool.get());
        } catch (const std::bad_alloc&) {
          return;  // the leader notices that this rank is gone
        }
      });
    }
  }

 private:
  std::vector<std::unique_ptr<Communicator>> communicators_;  // those that are not with their threads yet
  std::vector<std::thread> threads_;
  std::unique_ptr<ShardedBackend> lead_;
};

std::shared_ptr<ShardedBackend> team_of(const RanksHere& here, Split split, const std::filesystem::path& path,
                                        ThreadPool& pool) {
  const auto team = std::make_shared<Team>(here.ranks);
  ShardedBackend& lead = team->lead(backends().front().make(pool), split);
  team->start_others(path, here);
  return {team, &lead};
}

}  // namespace

Result<std::shared_ptr<ShardedBackend>> call_ranks(const Sharing& sharing, const std::filesystem::path& path,
                                                   const Gguf& file, const KvChoice& kv,
                                                   const RopeChoice& rope, ThreadPool& pool) {
  std::shared_ptr<ShardedBackend> backend;
  if (const auto* here = std::get_if<RanksHere>(&sharing.who)) {
    backend = team_of(*here, sharing.split, path, pool);
  } else {
    const auto& processes = std::get<RanksOf>(sharing.who);
    backend = std::make_shared<ShardedBackend>(backends().front().make(pool), *processes.communicator,
                                               sharing.split, processes.ranks);
  }
  SPECTR_TRY_VOID(backend->call(file, kv, rope));
  return backend;
}

}  // namespace spectr
