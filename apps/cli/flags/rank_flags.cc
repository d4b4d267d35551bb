#include "apps/cli/flags/rank_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <new>
#include <utility>

#include "apps/cli/failure.h"
#include "apps/cli/flags/arguments.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/model_flags.h"
#include "apps/cli/program.h"
#include "spectr/backend/sharded/follower.h"
#include "spectr/backend/sharded/mpi_job.h"
#include "spectr/backend/sharded/sharded_backend.h"
#include "spectr/backend/sharded/stoppable_communicator.h"
#include "spectr/base/numa.h"
#include "spectr/engine/backends.h"
#include "spectr/engine/usable_processors.h"

namespace spectr::cli {
namespace {

constexpr const char* ranks_group = "Several processes";

/// The MPI job whose rank 0 is this process.
class Leadership final : public LedJob {
 public:
  Leadership(std::unique_ptr<MpiJob> job, std::chrono::milliseconds patience)
      : job_(std::move(job)), patience_(patience), ranks_(job_->communicator()) {}

  void stop() override { ranks_.stop(); }
  bool leave() override {
    if (!ranks_.leave(patience_)) return false;
    job_.reset();
    return true;
  }
  Communicator& communicator() { return ranks_; }

 private:
  std::unique_ptr<MpiJob> job_;
  std::chrono::milliseconds patience_;
  StoppableCommunicator ranks_;
};

/// Set while the job runs; null outside of MPI jobs.
Leadership* leads = nullptr;

/// State before the first rank was bound to its node, with --numa distribute.
struct Machine {
  std::vector<std::vector<int>> nodes;
  int processors = 0;
};
Machine machine;

/// Parses those of the arguments whose flags `add` adds. Throws Failure.
void read_some(std::vector<std::string> arguments, const std::function<void(CLI::App&)>& add) {
  CLI::App app;
  app.set_help_flag();
  add(app);
  arguments = pick_options(app, arguments);
  std::ranges::reverse(arguments);
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& failure) {
    throw Failure(Status::usage, failure.what());
  }
}

/// Parses the flags that follower ranks read from the common arguments. Throws Failure, also for a model that
/// cannot be found.
void read_shared_flags(const std::vector<std::string>& arguments, ModelFlags& flags) {
  read_some(arguments, [&flags](CLI::App& app) {
    flags.add_model(app, false);
    flags.add_threads(app);
    flags.ranks.add(app);
  });
  flags.choose_bundled();
}

/// Binds this thread, and so the threads that it starts, according to --numa.
void settle(const std::vector<std::string>& arguments) {
  RankFlags flags;
  try {
    read_some(arguments, [&flags](CLI::App& app) { flags.add(app); });
  } catch (const Failure&) {
    return;  // the command reports the error
  }
  const bool isolates = flags.numa == "isolate", distributes = flags.numa == "distribute" && flags.here > 1;
  if (!isolates && !distributes) return;
  const auto nodes = numa_nodes();
  if (distributes) machine = {nodes, usable_processors()};
  RunningOn(nodes[isolates ? current_node(nodes) : 0]).keep();
}

/// Runs a follower rank. The leader reports errors of its file or its flags.
int follow_the_leader(const ModelFlags& flags, const std::optional<std::string>& bad, MpiJob& job) {
  // Signals of the terminal or a supervisor are for the leader, which then ends this rank.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
  ThreadPool pool(flags.thread_count());
  const std::unique_ptr<Backend> backend = backends().front().make(pool);
  const auto open = [&]() -> Result<Gguf> {
    if (bad) return error("{}", *bad);
    return Gguf::open(flags.model);
  };
  try {
    for (;;) {
      const Result<bool> more = follow(job.communicator(), *backend, open, &pool);
      if (!more) return report_failure(Status::failed, more.error().message);
      if (!*more) return static_cast<int>(Status::done);
    }
  } catch (const std::bad_alloc&) {
    return report_failure(Status::failed,
                          job.communicator().name_of(job.communicator().rank()) + ": out of memory");
  }
}

}  // namespace

void RankFlags::add(CLI::App& app) {
  app.add_flag("--shard", shard,
               "the processes that mpirun has started share the target model: each has a part of every layer")
      ->group(ranks_group);
  app.add_option("--ranks", here,
                 "number of ranks in this process that share it, each with its own threads (-t)")
      ->transform(whole(1, 64))
      ->capture_default_str()
      ->group(ranks_group);
  app.add_option("--split", split,
                 "row (default): ranks have a part of every layer, and compute at the same time; layer: some "
                 "layers each, for slow networks")
      ->check(CLI::IsMember({"row", "layer"}))
      ->group(ranks_group);
  app.add_option("--numa", numa,
                 "distribute: the ranks of this process have a socket each, in turn, with their part of the "
                 "model in its memory; isolate: everything stays on the socket that the program starts on; "
                 "numactl: on the processors that it was given")
      ->check(CLI::IsMember({"distribute", "isolate", "numactl"}))
      ->envname("LLAMA_ARG_NUMA")
      ->group(ranks_group);
  app.add_option("--rank-timeout", patience,
                 "with --shard, seconds after which a process that does not answer has failed")
      ->transform(whole(1, 3600))
      ->capture_default_str()
      ->group(ranks_group);
}

int RankFlags::processors_of_each() const {
  const int all = machine.nodes.empty() ? usable_processors() : machine.processors;
  return std::max(all / static_cast<int>(here), 1);
}

std::size_t RankFlags::count() const {
  if (shard && here > 1)
    throw Failure(Status::usage, "--shard and --ranks: ranks are processes, or those of one process");
  if (shard && leads == nullptr) throw Failure(Status::usage, "--shard must be among the arguments");
  return shard ? leads->communicator().all_ranks() : static_cast<std::size_t>(here);
}

std::optional<Sharing> RankFlags::first(std::size_t ranks, Split how, int threads) const {
  if (ranks == 1) return std::nullopt;
  if (shard) return Sharing{RanksOf{&leads->communicator(), ranks}, how};
  return Sharing{RanksHere{ranks, threads, machine.nodes}, how};
}

std::optional<Sharing> RankFlags::sharing(int threads) const {
  return first(count(), split == "layer" ? Split::layers : Split::rows, threads);
}

LedJob* led_job() {
  return leads;
}

int run_as_rank(const std::vector<std::string>& arguments, const std::function<int()>& run) {
  settle(arguments);
  const auto asks = [](const std::string& one) { return one == "--shard" || one.starts_with("--shard="); };
  if (std::ranges::none_of(arguments, asks)) return run();
  ModelFlags flags;
  std::optional<std::string> bad;
  try {
    read_shared_flags(arguments, flags);
  } catch (const Failure& failure) {
    bad = failure.what();
  }
  Result<std::unique_ptr<MpiJob>> job = MpiJob::start(std::chrono::seconds(flags.ranks.patience));
  if (!job) return report_failure(Status::usage, "--shard: " + job.error().message);
  if ((*job)->communicator().rank() > 0) return follow_the_leader(flags, bad, **job);
  Leadership leadership(std::move(*job), std::chrono::milliseconds(200));
  leads = &leadership;
  const int status = run();
  leads = nullptr;
  dismiss(leadership.communicator());
  return status;
}

}  // namespace spectr::cli
