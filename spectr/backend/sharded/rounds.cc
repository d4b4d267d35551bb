#include "spectr/backend/sharded/rounds.h"

#include <vector>

namespace spectr {

Result<void> run_sums(Communicator& communicator, const Rounds& rounds) {
  std::vector<float> numbers(rounds.count);
  for (std::size_t i = 0; i < rounds.rounds; ++i) SPECTR_TRY_VOID(communicator.all_reduce_sum(numbers));
  return {};
}

Result<void> run_ring(Communicator& communicator, const Rounds& rounds) {
  std::vector<float> numbers(rounds.count);
  const std::size_t rank = communicator.rank(), ranks = communicator.ranks();
  for (std::size_t i = 0; i < rounds.rounds; ++i) {
    if (rank > 0) SPECTR_TRY_VOID(communicator.receive(rank - 1, numbers));
    SPECTR_TRY_VOID(communicator.send((rank + 1) % ranks, numbers));
    if (rank == 0) SPECTR_TRY_VOID(communicator.receive(ranks - 1, numbers));
  }
  return {};
}

}  // namespace spectr
