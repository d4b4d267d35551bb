#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "spectr/backend/sharded/communicator.h"
#include "spectr/base/result.h"

namespace spectr {

/// Whether this build has MPI.
bool has_mpi();

/// This process as one of an MPI job (mpirun -n N …): MPI starts with it and ends with it. Where a rank has
/// failed, its end is that of the whole job. Once in a process; it must outlive what uses its communicator.
class MpiJob {
 public:
  /// `patience`: how long a rank waits for another between the steps of a pass. Error: a build without MPI,
  /// or what MPI says.
  static Result<std::unique_ptr<MpiJob>> start(std::chrono::milliseconds patience);
  virtual ~MpiJob() = default;

  virtual Communicator& communicator() = 0;
};

}  // namespace spectr
