#include "spectr/engine/prefix_cache.h"

#include <algorithm>
#include <utility>

namespace spectr {

void PrefixCache::save(const LanguageModel& model, std::span<const Token> tokens, const Session& session) {
  const std::size_t length = session.copyable(tokens.size());
  if (max_bytes_ == 0 || length < worth_saving) return;
  tokens = tokens.first(length);
  std::vector<SharedBlock> shared;
  {
    const std::lock_guard lock(mutex_);
    for (auto at = sequences_.begin(); at != sequences_.end(); ++at) {
      const CachedSequence& other = **at;
      if (other.model != &model) continue;
      const std::size_t common = common_beginning(other.tokens, tokens);
      if (common == length && (other.saved.rest.empty() || other.tokens.size() == length)) {
        sequences_.splice(sequences_.begin(), sequences_, at);
        return;
      }
      const std::size_t blocks =
          std::min(common / std::max<std::size_t>(other.saved.block_tokens, 1), other.saved.blocks.size());
      if (blocks > shared.size())
        shared.assign(other.saved.blocks.begin(),
                      other.saved.blocks.begin() + static_cast<std::ptrdiff_t>(blocks));
    }
  }
  std::optional<SavedSequence> saved = session.save(length, shared);
  if (saved) add({&model, {tokens.begin(), tokens.end()}, std::move(*saved)});
}

PrefixCache::Found PrefixCache::find(const LanguageModel& model, std::span<const Token> prompt,
                                     const Session& session) {
  const std::lock_guard lock(mutex_);
  Found found;
  auto best = sequences_.end();
  for (auto at = sequences_.begin(); at != sequences_.end(); ++at) {
    if ((*at)->model != &model) continue;
    const std::size_t common = common_beginning((*at)->tokens, prompt);
    if (common <= found.tokens) continue;
    const std::size_t tokens = session.restorable((*at)->saved, common);
    if (tokens <= found.tokens) continue;
    found = {*at, tokens};
    best = at;
  }
  if (found.sequence) sequences_.splice(sequences_.begin(), sequences_, best);
  return found;
}

void PrefixCache::add(CachedSequence sequence) {
  auto added = std::make_shared<const CachedSequence>(std::move(sequence));
  const std::lock_guard lock(mutex_);
  // A cached sequence that the new one extends is redundant unless it has a rest.
  for (auto at = sequences_.begin(); at != sequences_.end();) {
    const auto here = at++;
    const CachedSequence& other = **here;
    if (other.model == added->model && other.saved.rest.empty() &&
        common_beginning(other.tokens, added->tokens) == other.tokens.size())
      evict(here);
  }
  sequences_.push_front(added);
  bytes_ += added->saved.rest.size();
  for (const SharedBlock& block : added->saved.blocks) {
    if (++users_[block.data()] == 1) bytes_ += added->saved.block_bytes;
  }
  while (bytes_ > max_bytes_) evict(std::prev(sequences_.end()));
}

void PrefixCache::evict(Sequences::iterator at) {
  const SavedSequence& saved = (*at)->saved;
  bytes_ -= saved.rest.size();
  for (const SharedBlock& block : saved.blocks) {
    const auto user = users_.find(block.data());
    if (--user->second > 0) continue;
    bytes_ -= saved.block_bytes;
    users_.erase(user);
  }
  sequences_.erase(at);
}

std::size_t PrefixCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace spectr
