#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "spectr/decode/auto/acceptance.h"
#include "spectr/decode/auto/policy.h"
#include "spectr/lm/language_model.h"
#include "spectr/lm/token_tree.h"

namespace spectr {

/// The warm-up: the end of a prompt, scored as if it had been drafted, so that what models make of it is
/// known before they draft the first token. It is read anyway; only the logits of a few more of its tokens
/// are computed.
class WarmUp {
 public:
  /// The prompt's last token is left to the first block. Requires: two tokens or more.
  explicit WarmUp(std::span<const Token> prompt);

  /// The number of contexts, which are nodes 0 to contexts() − 1.
  NodeId contexts() const { return tree_.size(); }

  /// Reads the prompt. Where a session already knows its end that is computed again, so that what comes of it
  /// is a function of the prompt.
  Result<void> score(Session& session) const {
    session.rewind(sequence_.size());
    return session.score(sequence_, tree_);
  }
  /// The distributions at its contexts. Requires: a session that has scored it, and has done nothing since.
  NodeDistributions distributions(const Session& session, const Warp& warp, std::size_t vocabulary) const {
    return {session, warp, sequence_, tree_, vocabulary, session.vocabulary()};
  }
  /// Turns what was scored into the sequence of the session.
  void keep(Session& session) const { session.keep(tree_.path(last())); }

 private:
  NodeId last() const { return tree_.size() - 1; }

  std::span<const Token> sequence_;  // up to the first context
  TokenTree tree_;                   // a chain: the tokens behind it
};

/// One draft model, as `auto` sees it: what its drafts promise for the sequence at hand,
///
///   E tokens / E (Σ draft passes + target pass of 1 + nodes rows + alternation + distributions and plans),
///
/// where they go on while the model is confident enough (TreeDrafter's bound of the reach: by renewal theory
/// the best rate is that of the best K, L and bound); what it has missed of that sequence, and when it drafts
/// as a probe.
class DraftCandidate {
 public:
  DraftCandidate(std::size_t model, const Costs& costs, const AutoParams& params)
      : params_(params),
        model_(model),
        estimate_(params, costs.optimal_pays() ? tickets_acceptance : k_seq_acceptance) {}
  /// Begins with what earlier completions have taught.
  void remember(const LearnedAcceptance& learned) { estimate_.remember(learned); }
  const AcceptanceEstimate& estimate() const { return estimate_; }

  /// Weighs what it can do for a block. The others below speak of that block.
  void consider(const Forecast& forecast, const BlockStart& start);

  /// The seconds of a block of draft sequences of that shape, which have so many different nodes and bring so
  /// many tokens.
  double seconds(const Forecast& forecast, DraftShape shape, double nodes, double tokens) const {
    return drafting_seconds(forecast, shape, nodes) + token_seconds(forecast, shape, tokens);
  }
  /// The choice that promises most, or plain decoding.
  const Choice& best() const { return best_; }
  /// The seconds that the rest of the completion takes by that choice, what the model has to read first
  /// included.
  double seconds_to_complete(const Choice& choice) const;
  /// Whether it shall draft as a probe though `chosen` seems better: its turn has come, and the optimistic
  /// saving is worth the probe and what it has missed.
  bool wants_probe(const Choice& chosen);
  /// How it drafts as a probe.
  Choice probe() const { return best_.origin == DraftOrigin::model ? best_ : single_; }

  /// Returns the shape that promises the most tokens per second, better than plain decoding or not, of those
  /// with the K and the L that are given, K at most `max_drafts`, in blocks of at most `max_nodes` nodes. If
  /// none is so small, returns the smallest. `with_trunks`: weighs every trunk, else none.
  DraftShape best_shape(const Forecast& forecast, std::optional<std::size_t> K, std::optional<std::size_t> L,
                        std::size_t max_drafts, std::optional<std::size_t> max_nodes, bool with_trunks);

  /// Whether it may save more than it takes to read the prompt and to compare its end: by what is expected of
  /// it, or by the optimistic saving.
  bool is_worth_reading(const Forecast& forecast) const;
  /// Reads the prompt, but for its last token, and learns from the two models' distributions at nodes 0 to
  /// contexts − 1 of a WarmUp. Returns the seconds that a single draft at each of them would have won, by the
  /// block that was considered last; below 0 where they would have been lost.
  Result<double> warm_up(const Choice& plain, NodeId contexts, NodeDistributions& draft,
                         NodeDistributions& target);

  /// It drafts the block because it promises most.
  void exploit();
  /// It drafts the block as a probe, though another choice promises more.
  void explore() { count_drafting(); }
  /// Learns what became of its drafts.
  Result<void> observe(const Draft& draft, const Verdict& verdict, NodeDistributions& target);

 private:
  /// How many tokens are left, at most those of the longest block, and at which depth.
  struct Situation {
    std::size_t left = 0;
    std::size_t depth = 0;
    bool operator==(const Situation&) const = default;
  };

  /// The choice of drafts of that shape, which bring so many tokens.
  Choice choice_of(const Forecast& forecast, double tokens, DraftShape shape) const;
  /// Whether the block may take that choice even if no two of its draft sequences begin alike.
  bool is_affordable(const Forecast& forecast, const Choice& choice) const;
  /// The seconds of a block that do not depend on what is accepted, and of its tokens.
  double drafting_seconds(const Forecast& forecast, DraftShape shape, double nodes) const;
  double token_seconds(const Forecast& forecast, DraftShape shape, double tokens) const;
  /// Whether what was weighed last is what would come of weighing it with this budget.
  bool is_known(const Forecast& forecast, const Situation& now) const;
  /// Weighs everything that it can do with so many tokens left.
  void weigh(const Forecast& forecast, std::size_t left);
  /// The same with K draft sequences, of which so much is drafted at each position.
  void weigh(const Forecast& forecast, std::size_t left, std::size_t K,
             const AcceptanceEstimate::ByStop& drafted);
  /// The optimistic saving: the seconds that perfect drafts would save of the rest of the completion, times
  /// the share of probes that find such drafts.
  double optimistic_saving(const Choice& chosen) const;
  /// The seconds that it takes to read what it has missed, beyond what it would read anyway: as rows of a
  /// pass or, of many tokens, in one go.
  double reading_seconds() const;
  void count_drafting();

  AutoParams params_;
  std::size_t model_;
  AcceptanceEstimate estimate_;
  // The block, and what it is based on.
  const DraftCosts* costs_ = nullptr;
  std::size_t block_ = 0;
  std::size_t length_ = 0;  // of the sequence, of which the model has read so much
  std::size_t read_ = 0;
  std::size_t left_ = 0;
  // What it promises with so many tokens left at such a depth, until more has been compared; the budget that
  // it was weighed with, and whether that forbade a better choice.
  Situation known_for_;
  Choice best_, perfect_, single_;
  double budget_ = 0.0;
  bool forbidden_ = false;
  bool affords_probe_ = false;
  // The blocks that it has still to draft as a probe, the block from which on it may probe again, and how
  // long it then waits.
  std::size_t probes_ = params_.first_probe;
  std::size_t next_probe_ = 0;
  std::size_t gap_ = params_.first_gap;
};

}  // namespace spectr
