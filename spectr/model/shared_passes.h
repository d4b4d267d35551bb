#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "spectr/model/forward.h"
#include "spectr/model/transformer.h"
#include "spectr/model/transformer_text.h"

namespace spectr {

class SharedPasses;

/// A text whose rows are computed in passes that it shares with other texts: `score` waits for them. Its
/// error is also that the text was given up meanwhile: what was computed of it stays, and another score goes
/// on behind that. Used by one thread at a time, which holds a SharedPasses::Seat while it does.
class SharedSession final : public TransformerText {
 public:
  SharedSession(const Transformer& model, std::size_t context, std::size_t nodes, SharedPasses& passes)
      : TransformerText(model, context, nodes), passes_(passes) {}

  /// From now on a stop that this token asks for ends `score` before the next pass.
  void give_up_when(std::stop_token stop) { stop_ = std::move(stop); }
  bool given_up() const { return stop_.stop_requested(); }

 private:
  Result<void> compute(std::span<const Token> text, const TokenTree& tree) override;

  SharedPasses& passes_;
  std::stop_token stop_;
};

/// What the passes of a model have done so far.
struct PassCounts {
  std::uint64_t passes = 0;
  std::uint64_t rows = 0;
  std::uint64_t texts = 0;  ///< Σ over the passes of the texts that took part
};

/// Where the threads of several texts meet so that one pass of a model serves all of them (continuous
/// batching). Each thread runs its own decoder, which knows nothing of the others; whoever comes last to ask
/// for a score runs the pass for all.
///
/// A pass begins when every seated thread waits for one. While some wait for a draft model, only that model
/// runs: so all texts come to the target's pass together, which is the expensive one. Long texts are computed
/// piece by piece, one piece a pass; after a pass of pieces alone another model is next, if somebody waits
/// for it, so that long texts hold nobody up.
class SharedPasses {
 public:
  /// For at most `texts` texts at a time with trees of at most `nodes` nodes. `models`: cheapest first, the
  /// target last; they must outlive this.
  SharedPasses(std::span<const Transformer* const> models, std::size_t texts, std::size_t nodes);

  /// A session of one of the models, for texts of at most `context` tokens. Requires: 1 ≤ context ≤ the
  /// model's. Throws std::bad_alloc where there is no memory for them.
  std::unique_ptr<SharedSession> start(const Transformer& model, std::size_t context);

  /// A thread's part in the passes: while it lives, they wait for the thread. At most as many as `texts`
  /// live.
  class Seat {
   public:
    explicit Seat(SharedPasses& passes);
    ~Seat();
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;

   private:
    SharedPasses& passes_;
  };

  /// Threads that wait for a pass.
  std::size_t waiting() const;

  /// In the order of the models.
  std::vector<PassCounts> counts() const;

 private:
  friend class SharedSession;
  struct Wish;
  struct Model {
    Model(const Transformer& transformer, std::size_t rows) : model(transformer), pass(transformer, rows) {}
    const Transformer& model;
    ForwardPass pass;
    PassCounts counts;
  };

  Result<void> score(SharedSession& session, std::span<const Token> text, const TokenTree& tree);
  void run_pass(std::unique_lock<std::mutex>& lock);
  Model* next_model();

  std::size_t texts_;
  std::size_t nodes_;
  std::vector<std::unique_ptr<Model>> models_;
  std::vector<PassRow> rows_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Wish*> wishes_;         // one per waiting thread
  std::vector<Wish*> served_;         // by the running pass
  const Model* of_pieces_ = nullptr;  // whose pass was the last one, and completed no wish
  std::size_t seats_ = 0;
  bool running_ = false;
};

}  // namespace spectr
