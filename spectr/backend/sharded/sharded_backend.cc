#include "spectr/backend/sharded/sharded_backend.h"

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "spectr/backend/sharded/follower.h"
#include "spectr/backend/sharded/leader_ops.h"
#include "spectr/backend/sharded/messages.h"
#include "spectr/base/stopwatch.h"
#include "spectr/gguf/fingerprint.h"

namespace spectr {
namespace {

template <class... Values>
Result<void> tell(Communicator& communicator, Order order, const Values&... values) {
  MessageWriter out;
  out.put(order);
  (out.put(values), ...);
  return communicator.broadcast(out.bytes());
}

template <class Run>
Result<double> seconds_a_round(const Rounds& rounds, const Run& run) {
  Stopwatch watch;
  SPECTR_TRY_VOID(run());
  return watch.lap() / static_cast<double>(rounds.rounds);
}

}  // namespace

ShardedBackend::~ShardedBackend() {
  if (state_ == State::called) (void)hear();  // the replies are ignored
  if (state_ != State::idle) (void)tell(communicator_, Order::end);
}

/// Gathers the ranks' replies to the last message: empty on success, else an error text.
Result<void> ShardedBackend::hear() {
  SPECTR_TRY(const auto answers, communicator_.gather({}, Patience::endless));
  for (std::size_t rank = 0; rank < answers.size(); ++rank) {
    const std::string_view text(reinterpret_cast<const char*>(answers[rank].data()), answers[rank].size());
    if (!text.empty()) return error("{}: {}", communicator_.name_of(rank), text);
  }
  return {};
}

Result<void> ShardedBackend::call(const Gguf& file, const KvChoice& kv, const RopeChoice& rope) {
  const LoadOrder what{communicator_.ranks(), split_, fingerprint_of(file), build_identity(), kv, rope};
  SPECTR_TRY_VOID(tell(communicator_, Order::load, what));
  const Result<void> heard = hear();
  SPECTR_TRY_VOID(tell(communicator_, heard ? Order::load : Order::end));
  if (heard) state_ = State::called;
  return heard;
}

Result<void> ShardedBackend::all_loaded() {
  state_ = State::loaded;
  return hear();
}

std::string ShardedBackend::place() const {
  return fmt::format("{} ranks by {}", ranks(), split_ == Split::rows ? "row" : "layer");
}

Result<void> ShardedBackend::take_part(ModelSpec& spec) const {
  return spectr::take_part(spec, {communicator_.rank(), communicator_.ranks()}, split_);
}

Result<std::unique_ptr<Ops>> ShardedBackend::make(const ModelSpec& spec, const KvTypes& kv) const {
  SPECTR_TRY(std::unique_ptr<Ops> ops, backend_->make(spec, kv));
  return std::make_unique<LeaderOps>(make_rank_ops(split_, std::move(ops), link_), link_, split_,
                                     spec.vocabulary);
}

Result<std::vector<RankTimes>> ShardedBackend::take_times() {
  const RankTimes mine = link_->take_times();
  SPECTR_TRY_VOID(tell(communicator_, Order::times));
  SPECTR_TRY(const auto answers, communicator_.gather(std::as_bytes(std::span(&mine, 1))));
  std::vector<RankTimes> all;
  for (std::size_t rank = 0; rank < answers.size(); ++rank) {
    MessageReader in(answers[rank]);
    if (!in.get(all.emplace_back()) || !in.is_at_end())
      return error(ErrorCode::internal, "{} has sent a message of another size", communicator_.name_of(rank));
  }
  return all;
}

Result<double> ShardedBackend::sum_seconds(const Rounds& rounds) {
  SPECTR_TRY_VOID(tell(communicator_, Order::sums, rounds));
  return seconds_a_round(rounds, [&] { return run_sums(communicator_, rounds); });
}

Result<double> ShardedBackend::ring_seconds(const Rounds& rounds) {
  SPECTR_TRY_VOID(tell(communicator_, Order::ring, rounds));
  return seconds_a_round(rounds, [&] { return run_ring(communicator_, rounds); });
}

void dismiss(Communicator& communicator) {
  communicator.use_first(communicator.all_ranks());
  (void)tell(communicator, Order::end);
}

}  // namespace spectr
