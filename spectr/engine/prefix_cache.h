#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "spectr/base/token.h"
#include "spectr/lm/language_model.h"

namespace spectr {

/// A sequence of a model that is not in any session.
struct CachedSequence {
  const LanguageModel* model;
  std::vector<Token> tokens;
  SavedSequence saved;  ///< of all tokens; either all sequences of a model have a rest, or none has
};

/// Sequences that sessions no longer hold, so that prompts with a common prefix need not recompute it.
/// Sequences with a common prefix share its blocks. They are kept in the order of their tokens, in which, as
/// in a radix tree, the neighbours of a sequence share the longest prefixes with it. Above the memory limit,
/// the least recently used sequences are evicted. Thread-safe; sessions copy data outside the lock.
class PrefixCache {
 public:
  /// Shorter sequences are computed about as fast as they are saved and restored.
  static constexpr std::size_t worth_saving = 64;

  /// `max_bytes`: 0 disables the cache.
  explicit PrefixCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Saves the session's part of `tokens`, its sequence, unless it is cached already or too short. Throws
  /// std::bad_alloc, leaving the cache unchanged.
  void save(const LanguageModel& model, std::span<const Token> tokens, const Session& session);

  /// A sequence, and the number of prompt tokens that a session can restore from it.
  struct Found {
    std::shared_ptr<const CachedSequence> sequence;
    std::size_t tokens = 0;
  };
  /// Returns the sequence from which the session, of this model, can restore the most tokens of the prompt;
  /// null if there is none. If sequences have no rest, the prompt is compared with O(log N) of N sequences.
  Found find(const LanguageModel& model, std::span<const Token> prompt, const Session& session);

  /// Adds a sequence as the most recently used one, unless it is cached already. Throws std::bad_alloc,
  /// leaving the cache unchanged.
  void add(CachedSequence sequence);

  /// Returns the bytes of all sequences.
  std::size_t bytes() const;

 private:
  using Sequences = std::list<std::shared_ptr<const CachedSequence>>;
  struct Key {
    const LanguageModel* model;
    std::span<const Token> tokens;
  };
  struct ByTokens {
    bool operator()(const Key& a, const Key& b) const;
  };
  using Index = std::map<Key, Sequences::iterator, ByTokens>;

  static bool is_redundant(const Key& key, const CachedSequence& other);
  void use(Sequences::iterator at) { sequences_.splice(sequences_.begin(), sequences_, at); }
  void evict(Sequences::iterator at);

  const std::size_t max_bytes_;
  mutable std::mutex mutex_;
  Sequences sequences_;                                 // most recently used first
  Index index_;                                         // of sequences_; no sequence makes another redundant
  std::unordered_map<const void*, std::size_t> users_;  // by block: number of sequences
  std::size_t bytes_ = 0;
};

}  // namespace spectr
