#include "spectr/engine/prefix_cache.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace spectr {

bool PrefixCache::ByTokens::operator()(const Key& a, const Key& b) const {
  if (a.model != b.model) return std::less<>()(a.model, b.model);
  return std::ranges::lexicographical_compare(a.tokens, b.tokens);
}

/// Returns whether all that can be restored from a sequence with this key can be restored from `other`: it
/// has the same tokens or, without a rest, begins with them.
bool PrefixCache::is_redundant(const Key& key, const CachedSequence& other) {
  if (other.model != key.model || common_beginning(other.tokens, key.tokens) < key.tokens.size())
    return false;
  return other.saved.rest.empty() || other.tokens.size() == key.tokens.size();
}

void PrefixCache::save(const LanguageModel& model, std::span<const Token> tokens, const Session& session) {
  const std::size_t length = session.copyable(tokens.size());
  if (max_bytes_ == 0 || length < worth_saving) return;
  tokens = tokens.first(length);
  std::vector<SharedBlock> shared;
  {
    const std::lock_guard lock(mutex_);
    const auto next = index_.lower_bound({&model, tokens});
    if (next != index_.end() && is_redundant({&model, tokens}, **next->second)) return use(next->second);
    const auto share = [&](const CachedSequence& other) {
      if (other.model != &model) return;
      const std::vector<SharedBlock>& blocks = other.saved.blocks;
      const std::size_t common = common_beginning(other.tokens, tokens),
                        block_tokens = std::max<std::size_t>(other.saved.block_tokens, 1),
                        full = std::min(common / block_tokens, blocks.size());
      if (full > shared.size())
        shared.assign(blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(full));
    };
    if (next != index_.end()) share(**next->second);
    if (next != index_.begin()) share(**std::prev(next)->second);
  }
  std::optional<SavedSequence> saved = session.save(length, shared);
  if (saved) add({&model, {tokens.begin(), tokens.end()}, std::move(*saved)});
}

PrefixCache::Found PrefixCache::find(const LanguageModel& model, std::span<const Token> prompt,
                                     const Session& session) {
  const std::lock_guard lock(mutex_);
  Found found;
  auto best = sequences_.end();
  // Returns whether sequences further away from the prompt can be better: they have shorter common prefixes.
  const auto visit = [&](const Index::value_type& entry) {
    const auto& [key, at] = entry;
    if (key.model != &model) return false;
    const std::size_t common = common_beginning(key.tokens, prompt);
    if (common <= found.tokens) return false;
    const std::size_t tokens = session.restorable((*at)->saved, common);
    if (tokens > found.tokens) {
      found = {*at, tokens};
      best = at;
    }
    return true;
  };
  const auto next = index_.lower_bound({&model, prompt});
  for (auto at = next; at != index_.end() && visit(*at); ++at) {
  }
  for (auto at = next; at != index_.begin() && visit(*std::prev(at)); --at) {
  }
  if (found.sequence) use(best);
  return found;
}

void PrefixCache::add(CachedSequence sequence) {
  const auto added = std::make_shared<const CachedSequence>(std::move(sequence));
  const Key key{added->model, added->tokens};
  const std::vector<SharedBlock>& blocks = added->saved.blocks;
  const std::lock_guard lock(mutex_);
  const auto next = index_.lower_bound(key);
  if (next != index_.end() && is_redundant(key, **next->second)) return use(next->second);
  // All memory is allocated before the first change.
  Sequences fresh{added};
  std::unordered_map<const void*, std::size_t> users;
  for (const SharedBlock& block : blocks) users.try_emplace(block.data());
  users_.reserve(users_.size() + users.size());
  const auto place = index_.emplace_hint(next, key, fresh.begin());
  sequences_.splice(sequences_.begin(), fresh);
  users_.merge(users);
  bytes_ += added->saved.rest.size();
  for (const SharedBlock& block : blocks) {
    if (++users_[block.data()] == 1) bytes_ += added->saved.block_bytes;
  }
  // Only the predecessor can have become redundant: a sequence between it and the new one would begin with
  // it, and would have made it redundant before.
  if (place != index_.begin()) {
    const auto& [before, at] = *std::prev(place);
    if (is_redundant(before, *added)) evict(at);
  }
  while (bytes_ > max_bytes_) evict(std::prev(sequences_.end()));
}

void PrefixCache::evict(Sequences::iterator at) {
  const CachedSequence& evicted = **at;
  index_.erase(Key{evicted.model, evicted.tokens});
  bytes_ -= evicted.saved.rest.size();
  for (const SharedBlock& block : evicted.saved.blocks) {
    const auto user = users_.find(block.data());
    if (--user->second > 0) continue;
    bytes_ -= evicted.saved.block_bytes;
    users_.erase(user);
  }
  sequences_.erase(at);
}

std::size_t PrefixCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace spectr
