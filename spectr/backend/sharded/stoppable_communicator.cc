#include "spectr/backend/sharded/stoppable_communicator.h"

#include "spectr/backend/sharded/messages.h"
#include "spectr/backend/sharded/sharded_backend.h"

namespace spectr {

bool StoppableCommunicator::leave(std::chrono::milliseconds patience) {
  if (!mutex_.try_lock_for(patience)) return false;  // stays locked on success
  if (load_pending_ || loaded_) {
    MessageWriter end;
    end.put(Order::end);
    (void)ranks_.broadcast(end.bytes());
  }
  dismiss(ranks_);
  return true;
}

Result<void> StoppableCommunicator::broadcast(std::vector<std::byte>& bytes) {
  const std::lock_guard lock(mutex_);
  Order order{};
  MessageReader(bytes).get(order);
  const bool begins = order != Order::end && !load_pending_;
  if (stopped_ && begins) return error(ErrorCode::cancelled, "the program is stopping");
  if (order == Order::end) {
    load_pending_ = loaded_ = false;
  } else if (order == Order::load) {
    loaded_ = load_pending_;
    load_pending_ = !load_pending_;
  }
  return ranks_.broadcast(bytes);
}

Result<void> StoppableCommunicator::send(std::size_t to, std::span<const float> numbers) {
  const std::lock_guard lock(mutex_);
  return ranks_.send(to, numbers);
}

Result<void> StoppableCommunicator::receive(std::size_t from, std::span<float> numbers) {
  const std::lock_guard lock(mutex_);
  return ranks_.receive(from, numbers);
}

Result<void> StoppableCommunicator::all_reduce_sum(std::span<float> numbers) {
  const std::lock_guard lock(mutex_);
  return ranks_.all_reduce_sum(numbers);
}

Result<std::vector<std::vector<std::byte>>> StoppableCommunicator::gather(std::span<const std::byte> mine,
                                                                          Patience patience) {
  const std::lock_guard lock(mutex_);
  return ranks_.gather(mine, patience);
}

}  // namespace spectr
