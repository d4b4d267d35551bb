#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "spectr/decode/drafter.h"
#include "spectr/engine/batcher.h"
#include "spectr/engine/completion.h"
#include "spectr/engine/engine_counts.h"
#include "spectr/engine/engine_models.h"
#include "spectr/engine/prefix_cache.h"
#include "spectr/engine/request.h"
#include "spectr/nn/pass_profile.h"

namespace spectr {

/// A completion to generate.
struct CompletionJob {
  std::shared_ptr<const PreparedRequest> request;
  std::shared_ptr<Completion> completion;
  std::size_t choice;       ///< index in both
  std::uint64_t group = 0;  ///< jobs of one request have the same group
  std::chrono::steady_clock::time_point submitted = {};
};

/// Generates one completion at a time, with a session in each model. The sessions keep their sequence, so
/// that a later prompt can reuse a common prefix. Used by one thread at a time.
class CompletionSlot {
 public:
  /// The arguments must outlive the slot.
  CompletionSlot(std::size_t number, const EngineModels& models, std::optional<std::size_t> max_nodes,
                 Batcher& batcher, PrefixCache& prefixes, EngineCounters& counters,
                 std::span<PassProfile> profiles);

  /// Creates sessions for sequences of at most `models.context` tokens and trees of `max_nodes` nodes. Fails
  /// if there is not enough memory. Requires: `max_nodes` is set.
  Result<void> open();

  /// Generates the completion and adds its events. Returns when it has ended; the caller adds the result.
  CompletionResult run(const CompletionJob& job);

  /// The size of a saved, restored or erased sequence.
  struct Sequence {
    std::size_t tokens, bytes;
  };
  /// Saves the target's sequence to a file. Fails if it has no tokens, if the model's sequences cannot be
  /// saved, or if the file cannot be written.
  Result<Sequence> save(const std::filesystem::path& path) const;
  /// Restores a sequence from a file to the target's session, or to the prefix cache if there is no session
  /// yet. Fails as read_prompt_file().
  Result<Sequence> restore(const std::filesystem::path& path);
  /// Drops the sequences of all sessions. Returns the size of the target's.
  Sequence erase();

  /// Returns the number of tokens that the target's session holds.
  std::size_t length() const { return target_.session == nullptr ? 0 : target_.session->known().size(); }
  /// Returns the number of prompt tokens that the target need not compute.
  std::size_t reusable_prefix(std::span<const Token> prompt) const;

 private:
  /// A model's session; none before the first completion and after a failure.
  struct Cache {
    const Transformer* model;
    PassProfile* profile = nullptr;
    std::size_t nodes = 0;  ///< maximum tree nodes of the session
    std::unique_ptr<BatchedSession> session = nullptr;
    std::size_t common(std::span<const Token> prompt) const;
  };

  Result<void> generate(const CompletionJob& job, CompletionResult& result);
  Result<void> score_prompt(const CompletionJob& job, Session& target, std::size_t nodes) const;
  std::vector<Cache*> caches_of(std::size_t draft_models);
  Result<Models> begin(std::span<Cache* const> caches, const CompletionJob& job, std::size_t nodes);
  Result<void> begin_trained(std::span<const Token> prompt, bool drafts, Models& models);
  void end(std::span<Cache* const> caches, const Models& models, const std::vector<Token>& sequence);
  Result<void> start(Cache& cache, std::size_t nodes);
  void recall(Cache& cache, std::span<const Token> prompt);
  void reset();

  std::size_t number_;
  std::optional<std::size_t> max_nodes_;
  const EngineModels& models_;
  Batcher& batcher_;
  PrefixCache& prefixes_;
  EngineCounters& counters_;
  Cache target_;
  std::vector<Cache> drafts_;
  /// Session of a trained drafter, which follows the target's; null until a completion uses it.
  std::unique_ptr<Session> trained_;
  std::vector<Token> trained_text_;  // text that it has read
};

}  // namespace spectr
