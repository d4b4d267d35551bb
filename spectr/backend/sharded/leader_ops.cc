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

LeaderOps::LeaderOps(std::unique_ptr<RankOps> ops, std::shared_ptr<RankLink> link, Split split,
                     std::size_t vocabulary)
    : ForwardingOps(std::move(ops)),
      link_(std::move(link)),
      split_(split),
      vocabulary_(vocabulary),
      pass_(mutex_, std::defer_lock) {}

LeaderOps::~LeaderOps() = default;

template <class Put>
bool LeaderOps::tell(Order what, const Put& put) {
  const auto send = [&](Communicator& others) {
    MessageWriter message;
    message.put(what);
    put(message);
    return others.broadcast(message.bytes());
  };
  return link_->attempt(send).has_value();
}

bool LeaderOps::all_could() {
  const auto answers =
      link_->attempt([](Communicator& others) { return others.gather(std::span(&could, 1)); });
  return answers && std::ranges::all_of(*answers, [](const std::vector<std::byte>& answer) {
           return answer.size() == 1 && answer.front() == could;
         });
}

void LeaderOps::reserve(std::size_t rows) {
  if (rows <= reserved_) return;
  ForwardingOps::reserve(rows);
  const std::lock_guard lock(mutex_);
  const bool was_told = tell(Order::reserve, [rows](MessageWriter& out) { out.put(rows); });
  if (was_told && !all_could() && !link_->failure()) throw std::bad_alloc();
  reserved_ = rows;
}

CacheId LeaderOps::open_cache(const CacheSize& size) {
  const CacheId id = ForwardingOps::open_cache(size);
  bool has_memory = true;
  {
    const std::lock_guard lock(mutex_);
    const auto put = [&](MessageWriter& out) {
      out.put(id);
      out.put(size);
    };
    if (tell(Order::open_cache, put)) has_memory = all_could() || link_->failure();
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
  ForwardingOps::close_cache(cache);
}

void LeaderOps::copy_cache(const CacheCopy& copy) {
  {
    const std::lock_guard lock(mutex_);
    tell(Order::copy_cache, [&copy](MessageWriter& out) { put_copy(out, copy); });
  }
  ForwardingOps::copy_cache(copy);
}

SharedLogits& LeaderOps::free_logits() {
  const auto free = std::ranges::find_if(logits_, [](const auto& one) { return !one->is_held(); });
  if (free != logits_.end()) return **free;
  const RankOf who{link_->rank(), link_->ranks()};
  const auto place = static_cast<std::uint32_t>(logits_.size());
  return *logits_.emplace_back(std::make_unique<SharedLogits>(*this, place, vocabulary_, who));
}

void LeaderOps::begin(const PassBatch& batch) {
  pass_.lock();
  try {
    ForwardingOps::begin(batch);
    if (split_ == Split::rows) current_ = &free_logits();
  } catch (const std::bad_alloc&) {
    tell(Order::move, [&batch](MessageWriter& out) {
      PassBatch moves;
      moves.moves = batch.moves;
      put_batch(out, moves);
    });
    pass_.unlock();
    throw;
  }
  if (current_ != nullptr) current_->take({}, 0);  // frees the logits it held, for reuse
  wanted_ = batch.wanted.size();
  tell(Order::pass, [&](MessageWriter& out) {
    out.put(current_ == nullptr ? 0U : current_->place());
    put_batch(out, batch);
  });
}

void LeaderOps::head(const HeadSpec& spec) {
  try {
    ForwardingOps::head(spec);
  } catch (const std::bad_alloc&) {
    pass_.unlock();  // the other ranks' part of the pass ends here as well
    throw;
  }
}

Result<HeldLogits> LeaderOps::finish() {
  Result<HeldLogits> mine = ForwardingOps::finish();
  pass_.unlock();
  if (!mine || current_ == nullptr) return mine;
  current_->take(std::move(*mine), wanted_);
  return HeldLogits(*current_);
}

Result<void> LeaderOps::check_alive() {
  const std::lock_guard lock(mutex_);
  if (tell(Order::answer, [](MessageWriter&) {}))
    (void)link_->attempt([](Communicator& others) { return others.gather({}); });
  if (link_->failure()) return std::unexpected(*link_->failure());
  return ForwardingOps::check_alive();
}

std::vector<std::vector<std::byte>> LeaderOps::ask(const Question& question,
                                                   std::span<const std::byte> mine) {
  const std::lock_guard lock(mutex_);
  if (tell(Order::ask, [&question](MessageWriter& out) { out.put(question); })) {
    auto answers = link_->attempt([&](Communicator& others) { return others.gather(mine); });
    if (answers) return std::move(*answers);
  }
  throw RankFailure(link_->failure()->message);
}

}  // namespace spectr
