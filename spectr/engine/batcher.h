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

/// A session whose passes are shared with other sequences: `score` waits for them. Its error is also that it
/// was cancelled meanwhile: what was computed stays, and another score goes on behind that. Used by one
/// thread at a time, which holds a Batcher::ActiveSequence while it does; what it has of its text may be read
/// at any time between, and other sequences of the batcher copy from it what they have in common.
class BatchedSession final : public Session {
 public:
  ~BatchedSession() override;
  BatchedSession(const BatchedSession&) = delete;
  BatchedSession& operator=(const BatchedSession&) = delete;

  /// From now on a stop that this token asks for ends `score` before the next pass.
  void cancel_when(std::stop_token stop) { stop_ = std::move(stop); }
  bool cancelled() const { return stop_.stop_requested(); }

  /// Which sequences another one may copy its beginning from.
  struct Sharing {
    bool all = true;          ///< from every sequence
    std::uint64_t group = 0;  ///< from those of the same group; 0: it has none
  };
  /// A sequence begins with the first `length` tokens of the last one.
  void begin(std::size_t length, Sharing sharing);
  /// The sequence becomes the first `length` tokens of a saved one, whose tokens these are. False: the saved
  /// sequence is damaged, and the sequence is empty. Otherwise as Session::restore.
  bool recall(std::span<const Token> tokens, const SavedSequence& saved, std::size_t length);
  /// The group of the last sequence that began.
  std::uint64_t group() const { return sharing_.group; }
  /// `report` is called after each pass that computed a part of the sequence without completing the request,
  /// with the number of tokens that are there. It must be quick: the batcher waits for it.
  void report_progress(std::function<void(std::size_t length)> report) { report_ = std::move(report); }
  /// This is the text, with what has been kept since it was last scored, and nothing follows for now: no
  /// logits are held.
  void end(std::span<const Token> text);
  /// The tokens whose keys and values are there.
  std::span<const Token> known() const;
  /// How many of them were copied since the text began.
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
  std::vector<Token> text_;  // as far as it is known
  Sharing sharing_ = {};
  std::function<void(std::size_t)> report_;
  std::size_t copied_ = 0;
  bool has_begun_ = false;         // a score has been completed since the text began
  std::uint64_t last_served_ = 0;  // by which pass of the batcher
};

/// What the passes of a model have done so far.
struct PassCounts {
  std::uint64_t passes = 0;
  std::uint64_t rows = 0;
  std::uint64_t sequences = 0;  ///< Σ over the passes of the sequences that took part
  Histogram<10> by_rows{{1, 2, 4, 8, 16, 32, 64, 128, 256, 512}};  ///< the passes, by their rows
  Histogram<6> by_drafted{{0.0, 0.2, 0.4, 0.6, 0.8, 1.0}};  ///< by the share of rows that are draft tokens
  // Now:
  std::uint64_t held = 0;  ///< tokens that the model's sessions hold
  std::uint64_t room = 0;  ///< tokens that they could hold
};

/// How passes are put together.
struct PassPolicy {
  /// Maximum rows of a pass that reads prompts, ≥ 1. Sequences past their prompts take part whatever their
  /// rows, and prompts get an eighth of max_rows at least.
  std::size_t max_rows = 64;
  /// Maximum seconds of a pass in which prompts and other sequences take part, by the pace of earlier passes:
  /// the others get no token meanwhile. Prompts get a row at least.
  double max_seconds = std::numeric_limits<double>::infinity();
  /// How long a pass waits for who is not there yet: 1 is the rule of Batcher, 0 never, infinity for all.
  double patience = 1.0;
};

/// Where the threads of several sequences meet so that one pass of a model serves all of them (continuous
/// batching). Each thread runs its own decoder, which knows nothing of the others; whoever finds that a pass
/// is due runs it for all who wait for that model.
///
/// When a pass begins: where every active sequence waits, at once: of the cheapest model that somebody waits
/// for, so that all come together to the pass of the target, which is the expensive one. Where w wait for a
/// model and s are elsewhere (they draft with another model, or select), the w wait as long as
///
///     T · min(1, s / w),   T: seconds of the model's last pass,
///
/// counted from the first of them, the rule of renting skis: at s ≤ w they have then lost w · T · s / w = s ·
/// T, as much as the s lose by missing the pass at most. So waiting and missing together cost at most twice
/// what either costs alone, whenever the s come. At s > w they wait for one pass, so that a slow plan holds
/// nobody up for long.
///
/// Who takes part: all that have begun their text, drafts and verification; then prompts, whoever waited for
/// the most passes first, a piece each (LanguageModel::piece) as far as the pass has room: see PassPolicy.
/// After a pass of pieces alone another model is next if a request waits for it.
///
/// What several texts begin with is computed once: a sequence that has yet to compute what another one has
/// copies it, and one that is about to compute the same as another that is ahead waits for that. A sequence
/// that shares only within its group (BatchedSession::Sharing) copies and waits there alone.
class Batcher {
 public:
  /// So few tokens are computed about as soon as they are copied.
  static constexpr std::size_t worth_copying = 16;

  /// For at most `sequences` at a time. `models`: cheapest first, the target last; they must outlive this.
  Batcher(std::span<const LanguageModel* const> models, std::size_t sequences, PassPolicy policy = {});

  /// Takes a session of one of the models.
  std::unique_ptr<BatchedSession> adopt(std::unique_ptr<Session> session, const LanguageModel& model);

  /// Starts a session of one of the models. Fails as LanguageModel::start does.
  Result<std::unique_ptr<BatchedSession>> start(const LanguageModel& model, std::size_t context,
                                                std::size_t nodes);

  /// A thread's part in the passes: while it lives, they wait for the thread as long as that pays. At most as
  /// many as `sequences` live.
  class ActiveSequence {
   public:
    explicit ActiveSequence(Batcher& batcher);
    ~ActiveSequence();
    ActiveSequence(const ActiveSequence&) = delete;
    ActiveSequence& operator=(const ActiveSequence&) = delete;

   private:
    Batcher& batcher_;
  };

  /// Threads that wait for a pass.
  std::size_t waiting() const;

  /// In the order of the models.
  std::vector<PassCounts> counts() const;

 private:
  friend class BatchedSession;
  struct Request;
  using Clock = std::chrono::steady_clock;
  struct Model {
    const LanguageModel& model;
    PassCounts counts = {};
    Clock::duration last_pass{};
    double row_seconds = 0.0;  // of the last pass that had many rows
  };

  Result<void> score(BatchedSession& session, std::span<const Token> text, const TokenTree& tree);
  void drop_cancelled();
  std::optional<Clock::time_point> due(const Model& model) const;
  Model* next_model(Clock::time_point now);
  std::optional<Clock::time_point> next_due() const;
  std::size_t room_for_prompts(const Model& model, std::size_t rows) const;
  void choose_served(const Model& model);
  void run_pass(std::unique_lock<std::mutex>& lock, Model& model);
  bool waits_for_beginning(std::size_t asked);

  std::size_t sequences_;
  PassPolicy policy_;
  std::vector<Model> models_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<BatchedSession*> sessions_;
  std::vector<Request*> requests_;    // one per waiting thread
  std::vector<Request*> served_;      // by the running pass
  std::vector<Request*> prompts_;     // that may be served by it
  std::vector<Scoring> scorings_;     // of those
  const Model* of_pieces_ = nullptr;  // whose pass was the last one, and completed no request
  std::size_t active_ = 0;
  std::uint64_t passes_ = 0;
  bool running_ = false;
};

}  // namespace spectr
