#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>

#include "spectr/backend/sharded/communicator.h"
#include "spectr/base/result.h"

namespace spectr {

/// Sums of up to so many bytes, and those of two ranks, are one exchange of everybody's numbers with
/// everybody; larger ones are two: everybody adds a part of the numbers, and gives the others its sums.
constexpr std::size_t one_exchange_bytes = std::size_t{16} << 10;

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
