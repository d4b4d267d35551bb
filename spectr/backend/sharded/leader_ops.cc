#include "spectr/backend/sharded/leader_ops.h"

#include <algorithm>
#include <new>
#include <span>
#include <utility>

#include "spectr/backend/sharded/shared_logits.h"

namespace spectr {
namespace {

constexpr std::byte could{1};

}  // namespace

LeaderOps::LeaderOps(std::unique_ptr<Ops> ops, Communicator& communicator, std::size_t vocabulary)
    : RankOps(std::move(ops), communicator), vocabulary_(vocabulary), pass_(mutex_, std::defer_lock) {}

LeaderOps::~LeaderOps() = default;

template <class Put>
bool LeaderOps::tell(Order what, const Put& put) {
  const auto send = [&] {
    MessageWriter message;
    message.put(what);
    put(message);
    return communicator().broadcast(message.bytes());
  };
  return attempt(send).has_value();
}

bool LeaderOps::all_could() {
  const auto answers = attempt([&] { return communicator().gather(std::span(&could, 1)); });
  return answers && std::ranges::all_of(*answers, [](const std::vector<std::byte>& answer) {
           return answer.size() == 1 && answer.front() == could;
         });
}

void LeaderOps::reserve(std::size_t rows) {
  if (rows <= reserved_) return;
  RankOps::reserve(rows);
  const std::lock_guard lock(mutex_);
  const bool was_told = tell(Order::reserve, [rows](MessageWriter& out) { out.put(rows); });
  if (was_told && !all_could() && !failure()) throw std::bad_alloc();
  reserved_ = rows;
}

CacheId LeaderOps::open_cache(const CacheSize& size) {
  const CacheId id = RankOps::open_cache(size);
  bool has_memory = true;
  {
    const std::lock_guard lock(mutex_);
    const auto put = [&](MessageWriter& out) {
      out.put(id);
      out.put(size);
    };
    if (tell(Order::open_cache, put)) has_memory = all_could() || failure();
  }
  if (has_memory) return id;
  close_cache(id);
  throw std::bad_alloc();
}

void LeaderOps::close_cache(CacheId cache) {
  {
    const std::lock_guard lock(mutex_);
    tell(Order::close_cache, [cache](MessageWriter& out) { out.put(cache); });
  }
  RankOps::close_cache(cache);
}

void LeaderOps::copy_cache(const CacheCopy& copy) {
  {
    const std::lock_guard lock(mutex_);
    tell(Order::copy_cache, [&copy](MessageWriter& out) { put_copy(out, copy); });
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
    RankOps::begin(batch);
    current_ = &free_logits();
  } catch (const std::bad_alloc&) {
    tell(Order::move, [&batch](MessageWriter& out) {
      PassBatch moves;
      moves.moves = batch.moves;
      put_batch(out, moves);
    });
    pass_.unlock();
    throw;
  }
  current_->take({}, 0);  // what they hold may be used again
  wanted_ = batch.wanted.size();
  tell(Order::pass, [&](MessageWriter& out) {
    out.put(current_->place());
    put_batch(out, batch);
  });
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
  if (tell(Order::answer, [](MessageWriter&) {})) (void)attempt([&] { return communicator().gather({}); });
  if (failure()) return std::unexpected(*failure());
  return RankOps::check_alive();
}

std::vector<std::vector<std::byte>> LeaderOps::ask(const Question& question,
                                                   std::span<const std::byte> mine) {
  const std::lock_guard lock(mutex_);
  if (tell(Order::ask, [&question](MessageWriter& out) { out.put(question); })) {
    auto answers = attempt([&] { return communicator().gather(mine); });
    if (answers) return std::move(*answers);
  }
  throw RankFailure(failure()->message);
}

}  // namespace spectr
