#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "apps/server/answer.h"
#include "apps/server/model_set.h"
#include "apps/server/task.h"
#include "apps/server/totals.h"
#include "spectr/decode/models.h"
#include "spectr/model/shared_passes.h"

namespace spectr::server {

/// A place for one text at a time, with its sessions in all models. It remembers the text when it is done,
/// and what the next prompt has in common with it need not be computed again.
class Slot {
 public:
  /// Sessions for texts of at most `context` tokens. All must outlive the slot.
  Slot(std::size_t number, const ModelSet& models, std::size_t context, SharedPasses& passes, Totals& totals);

  /// Generates the text and adds it to `answer`; returns when it has ended or was given up.
  Outcome run(const Task& task, Answer& answer, std::size_t choice);

  /// How many of the prompt's first tokens the target need not compute.
  std::size_t remembers(std::span<const Token> prompt) const { return target_.common(prompt); }

 private:
  /// A session and the text that it holds a part of; none after a failure. While a decoder works, it owns
  /// the session.
  struct Memory {
    const Transformer* model;
    std::unique_ptr<Session> owned = nullptr;
    SharedSession* session = nullptr;
    std::vector<Token> text = {};
    std::size_t common(std::span<const Token> prompt) const;
  };

  /// Generates; the outcome tells what was done also where that ends with an error.
  Result<void> write(const Task& task, Answer& answer, std::size_t choice, Outcome& outcome);
  std::vector<Memory*> memories_of(const MethodRule& method);
  /// The sessions of these, the target's first, rewound to what they have of the prompt.
  Models lend(std::span<Memory* const> memories, const Task& task, const Answer& answer);
  /// Keeps the sessions, which hold a part of this text now.
  void take_back(std::span<Memory* const> memories, Models models, const std::vector<Token>& text);
  /// A fresh session.
  void start(Memory& memory);
  /// Drops the sessions, whatever state they are in: the next text starts new ones.
  void forget();

  std::size_t number_;
  std::size_t context_;
  const ModelSet& models_;
  SharedPasses& passes_;
  Totals& totals_;
  Memory target_;
  std::vector<Memory> drafts_;
};

}  // namespace spectr::server
