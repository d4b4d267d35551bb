#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "spectr/nn/extra_token_tracker.h"
#include "spectr/nn/feature_log.h"
#include "spectr/nn/kv_slots.h"
#include "spectr/nn/transformer.h"

namespace spectr {

/// A sequence in a transformer: its slots, its cache in the backend, and the logits of the tree's nodes. It
/// plans passes; the transformer runs them, alone or batched with those of other sequences.
class TransformerSession final : public Session {
 public:
  /// Requires: 1 ≤ context ≤ the model's. Throws std::bad_alloc if there is no memory for keys and values.
  TransformerSession(const Transformer& model, std::size_t context, std::size_t nodes, PassProfile* profile);

  Result<void> score(std::span<const Token> text, const TokenTree& tree) override;
  Logits logits(NodeId node) const override;
  void keep(std::span<const NodeId> path) override;
  void rewind(std::size_t length) override;
  std::size_t copyable(std::size_t length) const override { return slots_.copyable(length); }
  void copy(const Session& other, std::size_t length) override;
  std::optional<SavedSequence> save(std::size_t length, std::span<const SharedBlock> shared) const override;
  std::size_t restorable(const SavedSequence& saved, std::size_t length) const override;
  bool restore(const SavedSequence& saved, std::size_t length) override;
  Features* features() override { return features_ ? &*features_ : nullptr; }
  std::string_view name() const override { return model_.spec().file; }
  std::size_t length() const override { return slots_.length(); }
  std::size_t vocabulary() const override { return model_.vocabulary(); }
  std::size_t context() const override { return context_; }

 private:
  friend class Transformer;

  /// Returns the memory of a kept prefix.
  std::optional<CacheMemory> memory_of(const KvSlots::Kept& kept) const;
  /// True if a sequence has data outside its blocks.
  bool has_rest() const;

  /// Fails if text or tree exceed the context or the vocabulary.
  Result<void> check(std::span<const Token> text, const TokenTree& tree) const;
  /// Assigns the rows of `logits` from `row` on to the nodes from `first` on.
  void take(const HeldLogits& logits, std::size_t row, NodeId first);
  /// Records the features of rows [first, end) of a pass. If the plan completes the score, the last rows are
  /// those of the tree's new nodes.
  void record(const HeldLogits& pass, const PassBatch& batch, std::size_t first, std::size_t end,
              const KvSlots::Plan& plan);
  void drop_logits();

  /// A cache in the backend.
  struct Cache {
    Cache(const Transformer& model, std::size_t context, std::size_t nodes);
    ~Cache();
    Cache(const Cache&) = delete;
    Cache& operator=(const Cache&) = delete;
    const Transformer& model;
    CacheId id;
  };

  struct NodeLogits {
    HeldLogits pass;
    std::size_t row;
  };

  const Transformer& model_;
  std::size_t context_;
  Cache cache_;
  KvSlots slots_;
  std::vector<NodeLogits> logits_;  // by node
  ExtraTokenTracker extra_tokens_;
  PassProfile* profile_;
  std::optional<FeatureLog> features_;  // none without taps
};

}  // namespace spectr
