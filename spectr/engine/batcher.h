#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "spectr/base/histogram.h"
#include "spectr/lm/language_model.h"

namespace spectr {

class Batcher;

/// A session whose passes are shared with other sequences. score() waits for them, and also fails if it is
/// cancelled meanwhile; computed results are kept, and a later score() continues after them. Used by one
/// thread at a time, which must hold a Batcher::ActiveSequence. Between its calls, other sequences of the
/// batcher may read the session, and copy a common prefix from it.
class BatchedSession final : public Session {
 public:
  ~BatchedSession() override;
  BatchedSession(const BatchedSession&) = delete;
  BatchedSession& operator=(const BatchedSession&) = delete;

  /// Lets a stop request for this token end score() before the next pass.
  void cancel_when(std::stop_token stop) { stop_ = std::move(stop); }
  bool cancelled() const { return stop_.stop_requested(); }

  /// The sequences that a sequence may copy a common prefix from.
  struct Sharing {
    bool all = true;          ///< every sequence
    std::uint64_t group = 0;  ///< those of the same group; 0: none
  };
  /// Begins a sequence with the first `length` tokens of the last one.
  void begin(std::size_t length, Sharing sharing);
  /// Replaces the sequence by the first `length` of the `tokens` of a saved one. Returns false if the saved
  /// sequence is damaged; the sequence is then empty. Otherwise as Session::restore().
  bool recall(std::span<const Token> tokens, const SavedSequence& saved, std::size_t length);
  /// Returns the group of the last sequence that began.
  std::uint64_t group() const { return sharing_.group; }
  /// Sets a function that is called after each pass that computed a part of the sequence without completing
  /// the request, with the tokens computed so far. It must be fast, because the batcher waits for it.
  void report_progress(std::function<void(std::size_t length)> report) { report_ = std::move(report); }
  /// Ends the current text, which includes the tokens kept since it was last scored. Logits are
  /// released.
  void end(std::span<const Token> text);
  /// Returns the tokens whose keys and values are computed.
  std::span<const Token> known() const;
  /// Returns how many of them were copied since the text began.
  std::size_t copied() const { return copied_; }

  Result<void> score(std::span<const Token> text, const TokenTree& tree) override;
  Logits logits(NodeId node) const override { return session_->logits(node); }
  void keep(std::span<const NodeId> path) override;
  void rewind(std::size_t length) override;
  std::size_t copyable(std::size_t length) const override { return session_->copyable(length); }
  std::optional<SavedSequence> save(std::size_t length, std::span<const SharedBlock> shared) const override {
    return session_->save(length, shared);
  }
  std::size_t restorable(const SavedSequence& saved, std::size_t length) const override {
    return session_->restorable(saved, length);
  }
  Features* features() override { return session_->features(); }
  std::string_view name() const override { return session_->name(); }
  std::size_t length() const override { return session_->length(); }
  std::size_t vocabulary() const override { return session_->vocabulary(); }
  std::size_t context() const override { return session_->context(); }

 private:
  friend class Batcher;

  BatchedSession(std::unique_ptr<Session> session, const LanguageModel& model, Batcher& batcher);

  std::unique_ptr<Session> session_;
  const LanguageModel& model_;
  Batcher& batcher_;
  std::stop_token stop_;
  std::vector<Token> text_;  // as far as known
  Sharing sharing_ = {};
  std::function<void(std::size_t)> report_;
  std::size_t copied_ = 0;
  bool has_begun_ = false;         // a score has completed since the text began
  std::uint64_t last_served_ = 0;  // index of the batcher's pass that last served it
};

/// Statistics of a model's passes.
struct PassCounts {
  std::uint64_t passes = 0;
  std::uint64_t rows = 0;
  std::uint64_t sequences = 0;  ///< sum over all passes of the participating sequences
  Histogram<10> by_rows{{1, 2, 4, 8, 16, 32, 64, 128, 256, 512}};  ///< histogram of passes by rows
  Histogram<6> by_drafted{{0.0, 0.2, 0.4, 0.6, 0.8, 1.0}};  ///< by the share of draft tokens among the rows
  // Current values:
  std::uint64_t held = 0;  ///< tokens held by the model's sessions
  std::uint64_t room = 0;  ///< capacity of the sessions, in tokens
};

/// Policy of batching.
struct PassPolicy {
  /// Maximum rows of a pass with prompts, ≥ 1. Sequences after their prompts always take part, and prompts
  /// get at least an eighth of max_rows.
  std::size_t max_rows = 64;
  /// Maximum seconds of a pass with prompts and other sequences, estimated from earlier passes: the others
  /// get no token meanwhile. Prompts get at least one row.
  double max_seconds = std::numeric_limits<double>::infinity();
  /// Factor of the time that a pass waits for absent sequences: 0 never waits, infinity waits for all.
  double patience = 1.0;
};

/// Continuous batching: the threads of several sequences meet here, so that one pass of a model serves all of
/// them. Each thread runs its own decoder, independent of the others; the thread that finds a pass to be due
/// runs it for all that wait for that model.
///
/// When a pass begins: if every active sequence waits, immediately, on the cheapest model with waiters, so
/// that all reach the pass of the target, the expensive one, together. If w sequences wait for a model and s
/// are elsewhere (drafting with another model, or selecting), the w wait for
///
///     T · min(1, s / w),   T: seconds of the model's last pass,
///
/// counted from the first of them, as in the ski-rental problem: with s ≤ w, they have then lost w · T · s /
/// w = s · T, the maximum that the s lose by missing the pass. So waiting and missing together cost at most
/// twice what either costs alone, whenever the s arrive. With s > w, they wait for one pass, so that a slow
/// plan does not delay others for long.
///
/// Participants: all sequences that have begun their text, drafts and verification; then prompts, those that
/// have waited for the most passes first, with one chunk each (LanguageModel::piece) while the pass has room,
/// see PassPolicy. After a pass of chunks only, another model is next if a request waits for it.
///
/// A common prefix of several texts is computed once: a sequence copies computed tokens from another one, and
/// waits if another one is ahead and about to compute the same tokens. A sequence that shares only within its
/// group (BatchedSession::Sharing) copies and waits only there.
class Batcher {
 public:
  /// Computing this few tokens is about as fast as copying them.
  static constexpr std::size_t worth_copying = 16;

  /// Serves at most `sequences` at a time. `models`: cheapest first, the target last; they must outlive this.
  Batcher(std::span<const LanguageModel* const> models, std::size_t sequences, PassPolicy policy = {});

  /// Takes a session of one of the models.
  std::unique_ptr<BatchedSession> adopt(std::unique_ptr<Session> session, const LanguageModel& model);

  /// Starts a session of one of the models. Fails as LanguageModel::start does.
  Result<std::unique_ptr<BatchedSession>> start(const LanguageModel& model, std::size_t context,
                                                std::size_t nodes);

  /// Registers a thread for passes: during its lifetime, passes wait for the thread as long as that pays. At
  /// most `sequences` of them may exist at a time.
  class ActiveSequence {
   public:
    explicit ActiveSequence(Batcher& batcher);
    ~ActiveSequence();
    ActiveSequence(const ActiveSequence&) = delete;
    ActiveSequence& operator=(const ActiveSequence&) = delete;

   private:
    Batcher& batcher_;
  };

  /// Changes PassPolicy::max_rows from the next pass on.
  void set_max_rows(std::size_t rows);

  /// Returns the number of threads that wait for a pass.
  std::size_t waiting() const;

  /// Returns statistics in the order of the models.
  std::vector<PassCounts> counts() const;

 private:
  friend class BatchedSession;
  struct Request;
  using Clock = std::chrono::steady_clock;
  struct Model {
    const LanguageModel& model;
    PassCounts counts = {};
    Clock::duration last_pass{};
    double row_seconds = 0.0;  // of the last pass with many rows
  };

  Result<void> score(BatchedSession& session, std::span<const Token> text, const TokenTree& tree);
  void drop_cancelled();
  std::optional<Clock::time_point> due(const Model& model) const;
  Model* next_model(Clock::time_point now);
  std::optional<Clock::time_point> next_due() const;
  std::size_t room_for_prompts(const Model& model, std::size_t rows) const;
  void choose_served(const Model& model);
  void run_pass(std::unique_lock<std::mutex>& lock, Model& model);
  bool defer_to_shared_prefix(std::size_t asked);

  std::size_t sequences_;
  PassPolicy policy_;
  std::vector<Model> models_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<BatchedSession*> sessions_;
  std::vector<Request*> requests_;            // one per waiting thread
  std::vector<Request*> served_;              // served by the running pass
  std::vector<Request*> prompts_;             // candidates for it
  std::vector<Scoring> scorings_;             // of served requests
  const Model* last_prefill_only_ = nullptr;  // model of the last pass if it completed no request
  std::size_t active_ = 0;
  std::uint64_t passes_ = 0;
  bool running_ = false;
};

}  // namespace spectr
