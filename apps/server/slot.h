#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "apps/server/answer.h"
#include "apps/server/model_set.h"
#include "apps/server/tasks.h"
#include "apps/server/totals.h"
#include "spectr/decode/drafter.h"
#include "spectr/engine/batcher.h"

namespace spectr::server {

/// A place for one text at a time, with its sessions in all models. It remembers the text when it is done,
/// and what the next prompt has in common with it need not be computed again.
class Slot {
 public:
  /// Sessions for texts of at most `context` tokens. All must outlive the slot.
  Slot(std::size_t number, const ModelSet& models, std::size_t context, Batcher& batcher, Totals& totals);

  /// Generates the text and adds it to `answer`; returns when it has ended or was cancelled.
  Outcome run(const Task& task, Answer& answer, std::size_t choice);

  /// Tokens that the target remembers.
  std::size_t length() const { return target_.session == nullptr ? 0 : target_.session->known().size(); }
  /// How many of the prompt's first tokens the target need not compute.
  std::size_t remembers(std::span<const Token> prompt) const;

 private:
  /// A session; none after a failure. While a decoder works, it owns it.
  struct SlotCache {
    const Transformer* model;
    std::unique_ptr<Session> owned = nullptr;
    BatchedSession* session = nullptr;
    std::size_t common(std::span<const Token> prompt) const;
  };

  /// Generates; the outcome tells what was done also where that ends with an error.
  Result<void> write(const Task& task, Answer& answer, std::size_t choice, Outcome& outcome);
  std::vector<SlotCache*> caches_of(const MethodRule& method);
  /// The sessions of these, the target's first, rewound to what they have of the prompt.
  Result<Models> bind(std::span<SlotCache* const> caches, const Task& task, const Answer& answer);
  /// Keeps the sessions, which hold a part of this text now.
  void unbind(std::span<SlotCache* const> caches, Models models, const std::vector<Token>& text);
  /// A fresh session. Error: there is no memory for it.
  Result<void> start(SlotCache& cache);
  /// Drops the sessions, whatever state they are in: the next text starts new ones.
  void reset();

  std::size_t number_;
  std::size_t context_;
  const ModelSet& models_;
  Batcher& batcher_;
  Totals& totals_;
  SlotCache target_;
  std::vector<SlotCache> drafts_;
};

}  // namespace spectr::server
