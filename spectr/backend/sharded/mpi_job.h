#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>

#include "spectr/backend/sharded/communicator.h"
#include "spectr/base/result.h"

namespace spectr {

/// All-reduces of up to this many bytes, or of two ranks, use one all-to-all exchange. Larger ones use a
/// reduce-scatter followed by an all-gather.
constexpr std::size_t one_exchange_bytes = std::size_t{16} << 10;

/// Returns true if this build has MPI.
bool has_mpi();

/// This process as a rank of an MPI job (mpirun -n N …). Finalizes MPI on destruction, or aborts the job
/// after a failure. At most one per process; it must outlive users of its communicator.
class MpiJob {
 public:
  /// `patience` is the timeout of a wait for another rank within a pass. Errors: a build without MPI, or an
  /// error of MPI.
  static Result<std::unique_ptr<MpiJob>> start(std::chrono::milliseconds patience);
  virtual ~MpiJob() = default;

  virtual Communicator& communicator() = 0;
};

}  // namespace spectr
