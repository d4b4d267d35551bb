#include "spectr/backend/sharded/leader_ops.h"

#include <algorithm>
#include <new>
#include <span>
#include <utility>

#include "spectr/backend/sharded/shared_logits.h"

namespace spectr {
namespace {

MessageWriter order(Order what) {
  MessageWriter out;
  out.put(what);
  return out;
}

constexpr std::byte could{1};

}  // namespace

LeaderOps::LeaderOps(std::unique_ptr<Ops> ops, Communicator& communicator, std::size_t vocabulary)
    : RankOps(std::move(ops), communicator), vocabulary_(vocabulary), pass_(mutex_, std::defer_lock) {}

LeaderOps::~LeaderOps() = default;

bool LeaderOps::tell(MessageWriter& message) {
  return !failure() && note(communicator().broadcast(message.bytes()));
}

bool LeaderOps::all_could() {
  const auto answers = communicator().gather(std::span(&could, 1));
  return note(answers) && std::ranges::all_of(*answers, [](const std::vector<std::byte>& answer) {
           return answer.size() == 1 && answer.front() == could;
         });
}

void LeaderOps::reserve(std::size_t rows) {
  if (rows <= reserved_) return;
  RankOps::reserve(rows);
  const std::lock_guard lock(mutex_);
  MessageWriter message = order(Order::reserve);
  message.put(rows);
  if (tell(message) && !all_could() && !failure()) throw std::bad_alloc();
  reserved_ = rows;
}

CacheId LeaderOps::open_cache(const CacheSize& size) {
  const CacheId id = RankOps::open_cache(size);
  bool has_memory = true;
  {
    const std::lock_guard lock(mutex_);
    MessageWriter message = order(Order::open_cache);
    message.put(id);
    message.put(size);
    if (tell(message)) has_memory = all_could() || failure();
  }
  if (has_memory) return id;
  close_cache(id);
  throw std::bad_alloc();
}

void LeaderOps::close_cache(CacheId cache) {
  {
    const std::lock_guard lock(mutex_);
    MessageWriter message = order(Order::close_cache);
    message.put(cache);
    tell(message);
  }
  RankOps::close_cache(cache);
}

void LeaderOps::copy_cache(const CacheCopy& copy) {
  {
    const std::lock_guard lock(mutex_);
    MessageWriter message = order(Order::copy_cache);
    put_copy(message, copy);
    tell(message);
  }
  RankOps::copy_cache(copy);
}

SharedLogits& LeaderOps::free_logits() {
  const auto free = std::ranges::find_if(logits_, [](const auto& one) { return !one->is_held(); });
  if (free != logits_.end()) return **free;
  const RankOf who{communicator().rank(), communicator().ranks()};
  const auto place = static_cast<std::uint32_t>(logits_.size());
  return *logits_.emplace_back(std::make_unique<SharedLogits>(*this, place, vocabulary_, who));
}

void LeaderOps::begin(const PassBatch& batch) {
  pass_.lock();
  try {
    current_ = &free_logits();
    current_->take({}, 0);  // what they hold may be used again
    RankOps::begin(batch);
  } catch (const std::bad_alloc&) {
    PassBatch moves;
    moves.moves = batch.moves;
    MessageWriter message = order(Order::move);
    put_batch(message, moves);
    tell(message);
    pass_.unlock();
    throw;
  }
  MessageWriter message = order(Order::pass);
  message.put(current_->place());
  put_batch(message, batch);
  tell(message);
  wanted_ = batch.wanted.size();
}

void LeaderOps::head(const HeadSpec& spec) {
  try {
    RankOps::head(spec);
  } catch (const std::bad_alloc&) {
    pass_.unlock();  // the others' part of the pass ends here, too
    throw;
  }
}

Result<HeldLogits> LeaderOps::finish() {
  Result<HeldLogits> mine = RankOps::finish();
  pass_.unlock();
  if (!mine) return mine;
  current_->take(std::move(*mine), wanted_);
  return HeldLogits(*current_);
}

Result<void> LeaderOps::check_alive() {
  const std::lock_guard lock(mutex_);
  MessageWriter message = order(Order::answer);
  if (tell(message)) note(communicator().gather({}));
  if (failure()) return std::unexpected(*failure());
  return RankOps::check_alive();
}

std::vector<std::vector<std::byte>> LeaderOps::ask(const Question& question,
                                                   std::span<const std::byte> mine) {
  const std::lock_guard lock(mutex_);
  MessageWriter message = order(Order::ask);
  message.put(question);
  if (tell(message)) {
    Result<std::vector<std::vector<std::byte>>> answers = communicator().gather(mine);
    if (note(answers)) return std::move(*answers);
  }
  throw RankFailure(failure()->message);
}

}  // namespace spectr
