#include "spectr/backend/sharded/sharded_backend.h"

#include <string_view>
#include <utility>
#include <vector>

#include "spectr/backend/sharded/follower.h"
#include "spectr/backend/sharded/leader_ops.h"
#include "spectr/backend/sharded/messages.h"
#include "spectr/backend/sharded/model_part.h"

namespace spectr {
namespace {

Result<void> tell(Communicator& communicator, Order order) {
  MessageWriter out;
  out.put(order);
  return communicator.broadcast(out.bytes());
}

}  // namespace

ShardedBackend::~ShardedBackend() {
  if (state_ == State::called) (void)hear();  // what they have to say is of no use any more
  if (state_ != State::idle) (void)tell(communicator_, Order::end);
}

/// What the others have to say of what they were told: nothing, or an error.
Result<void> ShardedBackend::hear() {
  SPECTR_TRY(const auto answers, communicator_.gather({}, Patience::endless));
  for (std::size_t rank = 0; rank < answers.size(); ++rank) {
    const std::string_view text(reinterpret_cast<const char*>(answers[rank].data()), answers[rank].size());
    if (!text.empty()) return error("{}: {}", communicator_.name_of(rank), text);
  }
  return {};
}

Result<void> ShardedBackend::call(const Gguf& file, const KvChoice& kv, const RopeChoice& rope) {
  MessageWriter out;
  out.put(Order::load);
  out.put(LoadOrder{fingerprint_of(file), fingerprint_of_build(), kv, rope});
  SPECTR_TRY_VOID(communicator_.broadcast(out.bytes()));
  const Result<void> heard = hear();
  SPECTR_TRY_VOID(tell(communicator_, heard ? Order::load : Order::end));
  if (heard) state_ = State::called;
  return heard;
}

Result<void> ShardedBackend::all_loaded() {
  state_ = State::loaded;
  return hear();
}

Result<void> ShardedBackend::take_part(ModelSpec& spec) const {
  return take_part_of_layers(spec, {communicator_.rank(), communicator_.ranks()});
}

Result<std::unique_ptr<Ops>> ShardedBackend::make(const ModelSpec& spec, const KvTypes& kv) const {
  SPECTR_TRY(std::unique_ptr<Ops> ops, backend_->make(spec, kv));
  return std::make_unique<LeaderOps>(std::move(ops), communicator_, spec.vocabulary);
}

void dismiss(Communicator& communicator) {
  (void)tell(communicator, Order::end);
}

}  // namespace spectr
