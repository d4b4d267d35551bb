#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "spectr/engine/rank_team.h"

namespace spectr::cli {

/// The values of --shard, --ranks and --split, which distribute the target model, and of --numa.
struct RankFlags {
  long here = 1;       ///< number of ranks in this process
  bool shard = false;  ///< all processes of the MPI job are ranks
  std::string split;   ///< "row", "layer", or empty
  std::string numa;    ///< "distribute", "isolate", "numactl", or empty
  long patience = 3;   ///< timeout in seconds when ranks wait for each other within a pass

  void add(CLI::App& app);
  /// Returns nothing if this process computes alone. Throws Failure if both flags are given.
  std::optional<Sharing> sharing(int threads) const;
  /// Returns the number of processors available to each rank of this process.
  int processors_of_each() const;
  /// Returns the number of ranks.
  std::size_t count() const;
  /// Returns the sharing of the first `ranks` ranks; none if this process computes alone.
  std::optional<Sharing> first(std::size_t ranks, Split split, int threads) const;
};

/// An MPI job that this process leads.
class LedJob {
 public:
  virtual ~LedJob() = default;
  /// Stops sending commands to the ranks, so that loading a model soon fails.
  virtual void stop() = 0;
  /// Ends the job in order even if another thread is still loading; the process must end afterwards. Returns
  /// false if ranks are still executing a command.
  virtual bool leave() = 0;
};
/// Returns null if this process does not lead a job.
LedJob* led_job();

/// Runs the program on the processors that --numa selects. Without --shard, there are no other
/// processes. Otherwise the process joins the MPI job that it was started in (a job of one if started
/// directly): rank 0 runs the program and finally ends the other ranks; these load their parts of the
/// models, from the files named in their own arguments, and follow rank 0. Reports failures and returns
/// the exit status.
int run_as_rank(const std::vector<std::string>& arguments, const std::function<int()>& run);

}  // namespace spectr::cli
