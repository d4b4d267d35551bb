// An MPI job of two or three ranks in which one rank, the hasty one, times out before the others reach the
// same call. It then reuses the memory that it passed to the call. Only after that do the others send the
// data that it waited for, and receive the data that it sent.
//
// Usage: late_ranks CALL FILE. The hasty rank writes to FILE a description of the failure, or "kept apart".
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "spectr/backend/sharded/mpi_job.h"

namespace spectr {
namespace {

using namespace std::chrono_literals;

constexpr int goes_on = 1001, has_gone_on = 1002;  // tags of the test's own messages
// Exceeds MPI's eager limit; a third of it is one message.
constexpr std::size_t numbers = 24'000;

bool are_all(std::span<const float> all, float number) {
  return std::ranges::all_of(all, [&](float one) { return one == number; });
}

/// Performs a call with the caller's memory. Returns false if it fails.
bool call(Communicator& ranks, const std::string& name, std::size_t other, std::vector<float>& memory) {
  if (name == "receive") return ranks.receive(other, memory).has_value();
  if (name == "send") return ranks.send(other, memory).has_value();
  if (name == "answer") return ranks.gather(std::as_bytes(std::span(memory)), Patience::usual).has_value();
  return ranks.all_reduce_sum(memory).has_value();
}

/// Performs the late rank's part of the call. Returns true if it received the hasty rank's data.
bool come_late(Communicator& ranks, const std::string& name, std::size_t hasty) {
  std::vector<float> memory(numbers, 5.0f);
  if (name == "receive") return ranks.send(hasty, memory).has_value();
  if (name == "send") return ranks.receive(hasty, memory).has_value() && are_all(memory, 1.0f);
  if (name == "sum") return ranks.all_reduce_sum(memory).has_value() && are_all(memory, 6.0f);
  const auto all = ranks.gather({}, Patience::usual);
  return all && (*all)[hasty].size() == numbers * sizeof(float) &&
         std::ranges::all_of((*all)[hasty], [at = 0u](std::byte byte) mutable {
           const float one = 1.0f;
           return byte == std::as_bytes(std::span(&one, 1))[at++ % sizeof(float)];
         });
}

/// Takes part in a reduction of three ranks by plain messages, but delays its
/// sums until it receives `goes_on`.
bool come_late_with_sums(int hasty) {
  std::vector<float> part(numbers / 3);
  const int bytes = static_cast<int>(part.size() * sizeof(float));
  MPI_Status status{};
  MPI_Recv(part.data(), bytes, MPI_BYTE, hasty, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  MPI_Send(part.data(), bytes, MPI_BYTE, hasty, status.MPI_TAG, MPI_COMM_WORLD);
  int word = 0;
  MPI_Recv(&word, 1, MPI_INT, hasty, goes_on, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(part.data(), bytes, MPI_BYTE, hasty, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  const bool is_sum = are_all(part, 3.0f);
  std::ranges::fill(part, 5.0f);
  MPI_Send(part.data(), bytes, MPI_BYTE, hasty, status.MPI_TAG, MPI_COMM_WORLD);
  return is_sum;
}

std::string be_hasty(Communicator& ranks, const std::string& name) {
  std::vector<float> memory(numbers, 1.0f);
  if (call(ranks, name, 1, memory)) return "it waited for the others";
  std::ranges::fill(memory, 2.0f);
  bool all_got_it = true;
  for (std::size_t other = 0; other < ranks.all_ranks(); ++other) {
    if (other == ranks.rank()) continue;
    int word = 0;
    MPI_Send(&word, 1, MPI_INT, static_cast<int>(other), goes_on, MPI_COMM_WORLD);
    // By then, the messages that the other sent before have arrived.
    MPI_Recv(&word, 1, MPI_INT, static_cast<int>(other), has_gone_on, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    all_got_it = all_got_it && word != 0;
  }
  if (!are_all(memory, 2.0f)) return "a late message was written to memory of the caller";
  return all_got_it ? "kept apart" : "a late message was read from memory of the caller";
}

int run(const std::string& name, const char* file) {
  const int hasty = name == "answer" ? 1 : 0;
  // The timeout must be set before MPI starts, so the rank is read from the launcher's variable.
  const char* const of_launcher = std::getenv("OMPI_COMM_WORLD_RANK");
  if (of_launcher == nullptr) return 3;
  const int rank = std::stoi(of_launcher);
  // For "parts" it must not time out before the others have sent theirs.
  const auto hasty_patience = name == "parts" ? 3'000ms : 300ms;
  const auto job = MpiJob::start(rank == hasty ? hasty_patience : 60'000ms);
  if (!job) return 2;
  Communicator& ranks = (*job)->communicator();
  if (rank == hasty) {
    std::ofstream(file) << be_hasty(ranks, name);
    return 0;
  }
  int word = 0;
  if (name == "parts") {
    word = come_late_with_sums(hasty) ? 1 : 0;
  } else {
    MPI_Recv(&word, 1, MPI_INT, hasty, goes_on, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    word = come_late(ranks, name, static_cast<std::size_t>(hasty)) ? 1 : 0;
  }
  MPI_Send(&word, 1, MPI_INT, hasty, has_gone_on, MPI_COMM_WORLD);
  return 0;
}

}  // namespace
}  // namespace spectr

int main(int count, char** arguments) {
  return count == 3 ? spectr::run(arguments[1], arguments[2]) : 3;
}
