#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "spectr/base/token.h"
#include "spectr/lm/language_model.h"

namespace spectr {

/// A sequence of a model that no session holds.
struct CachedSequence {
  const LanguageModel* model;
  std::vector<Token> tokens;
  SavedSequence saved;  ///< of all tokens
};

/// Sequences that sessions no longer hold, so that prompts that begin like them need not compute that part
/// again. Sequences with a common beginning share its blocks. What exceeds the limit of memory is evicted,
/// least recently used first. Thread-safe; what sessions copy, they copy outside of the lock.
class PrefixCache {
 public:
  /// Shorter sequences are computed about as soon as they are saved and restored.
  static constexpr std::size_t worth_saving = 64;

  /// `max_bytes`: 0 keeps nothing.
  explicit PrefixCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Saves what the session has of `tokens`, the sequence that it holds, unless that is cached or too short.
  /// Throws std::bad_alloc; the cache is as before then.
  void save(const LanguageModel& model, std::span<const Token> tokens, const Session& session);

  /// A sequence, and how many tokens of a prompt a session can restore from it.
  struct Found {
    std::shared_ptr<const CachedSequence> sequence;
    std::size_t tokens = 0;
  };
  /// Returns the sequence from which the session, of this model, can restore most of the prompt; null: there
  /// is none.
  Found find(const LanguageModel& model, std::span<const Token> prompt, const Session& session);

  /// Adds a sequence as the most recently used one. Throws std::bad_alloc.
  void add(CachedSequence sequence);

  /// Bytes of all sequences.
  std::size_t bytes() const;

 private:
  using Sequences = std::list<std::shared_ptr<const CachedSequence>>;

  void evict(Sequences::iterator at);

  const std::size_t max_bytes_;
  mutable std::mutex mutex_;
  Sequences sequences_;                                 // the most recently used one first
  std::unordered_map<const void*, std::size_t> users_;  // of each block: sequences
  std::size_t bytes_ = 0;
};

}  // namespace spectr
