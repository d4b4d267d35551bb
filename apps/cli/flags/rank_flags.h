#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "spectr/engine/rank_team.h"

namespace spectr::cli {

/// --shard, --ranks and --split: who computes the target model; --numa: where.
struct RankFlags {
  long here = 1;       ///< ranks of this process
  bool shard = false;  ///< all processes of the MPI job are ranks
  std::string split;   ///< "row", "layer", or nothing
  std::string numa;    ///< "distribute", "isolate", "numactl", or nothing
  long patience = 3;   ///< seconds that ranks wait for each other between the steps of a pass

  void add(CLI::App& app);
  /// None: this process alone. Throws Failure where both flags are given.
  std::optional<Sharing> sharing(int threads) const;
  /// How many processors each rank of this process may keep busy.
  int processors_of_each() const;
  /// How many ranks there are.
  std::size_t count() const;
  /// The first of them; none: this process alone.
  std::optional<Sharing> first(std::size_t ranks, Split split, int threads) const;
};

/// The job of several processes that this one leads, while it runs.
class LedJob {
 public:
  virtual ~LedJob() = default;
  /// From now on ranks get no new orders, so that the loading of a model fails soon.
  virtual void stop() = 0;
  /// Ends the job in order while another thread may still be loading; then the process must end. False: the
  /// ranks are still at an order.
  virtual bool leave() = 0;
};
/// Null: the process leads none.
LedJob* led_job();

/// Lets the program run on the processors that its arguments name (--numa), and runs it where they ask for no
/// other processes (--shard). Else joins the MPI job that it
/// was started in (by itself: a job of one): rank 0 runs the program and lets the others end when it has; the
/// others load their parts of its models, from the files that their own arguments name, and do what it says.
/// Returns the exit status; reports failures.
int run_as_rank(const std::vector<std::string>& arguments, const std::function<int()>& run);

}  // namespace spectr::cli
