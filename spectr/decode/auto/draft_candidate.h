#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "spectr/decode/auto/acceptance.h"
#include "spectr/decode/auto/policy.h"
#include "spectr/lm/language_model.h"
#include "spectr/lm/token_tree.h"

namespace spectr {

/// The warm-up: the end of a prompt, scored as if it had been drafted, so that the models' agreement there is
/// known before they draft the first token. The prompt is processed anyway; only the logits of a few more of
/// its tokens are computed.
class WarmUp {
 public:
  /// Leaves the prompt's last token to the first block. Requires: at least two tokens.
  explicit WarmUp(std::span<const Token> prompt);

  /// Returns the number of contexts, which are nodes 0 to contexts() − 1.
  NodeId contexts() const { return tree_.size(); }

  /// Processes the prompt. If a session already has its end, that is computed again, so that the results are
  /// a function of the prompt.
  Result<void> score(Session& session) const {
    session.rewind(sequence_.size());
    return session.score(sequence_, tree_);
  }
  /// Returns the distributions at its contexts. Requires: the session scored it last.
  NodeDistributions distributions(const Session& session, const Warp& warp, std::size_t vocabulary) const {
    return {session, warp, sequence_, tree_, vocabulary, session.vocabulary()};
  }
  /// Commits the scored tokens to the session's sequence.
  void keep(Session& session) const { session.keep(tree_.path(last())); }

 private:
  NodeId last() const { return tree_.size() - 1; }

  std::span<const Token> sequence_;  // up to the first context
  TokenTree tree_;                   // a chain: the tokens after it
};

/// One draft model as a candidate of `auto`, with the forecast of its drafts for the current sequence,
///
///   E tokens / E (Σ draft passes + target pass of 1 + nodes rows + alternation + distributions and plans),
///
/// where drafts continue while the model is confident enough (TreeDrafter's bound of the reach: by renewal
/// theory the best rate is that of the best K, L and bound). It also tracks which tokens of the sequence the
/// model has not processed, and when it drafts as a probe.
class DraftCandidate {
 public:
  DraftCandidate(std::size_t model, const Costs& costs, const AutoParams& params)
      : params_(params),
        model_(model),
        estimate_(params, costs.optimal_pays() ? tickets_acceptance : k_seq_acceptance) {}
  /// Starts from the acceptance of earlier completions.
  void remember(const LearnedAcceptance& learned) { estimate_.remember(learned); }
  const AcceptanceEstimate& estimate() const { return estimate_; }

  /// Evaluates its choices for a block. The functions below refer to that block.
  void consider(const Forecast& forecast, const BlockStart& start);

  /// Returns the seconds of a block of draft sequences of this shape, with `nodes` different nodes and
  /// `tokens` tokens.
  double seconds(const Forecast& forecast, DraftShape shape, double nodes, double tokens) const {
    return drafting_seconds(forecast, shape, nodes) + token_seconds(forecast, shape, tokens);
  }
  /// Returns the best choice, or plain decoding.
  const Choice& best() const { return best_; }
  /// Returns the seconds of the rest of the completion with this choice, including the tokens that the model
  /// has to process first.
  double seconds_to_complete(const Choice& choice) const;
  /// Returns true if the model is to draft as a probe although `chosen` seems better: a probe is due, and the
  /// optimistic saving is worth its cost and the unprocessed tokens. Schedules the probe if a new one begins.
  bool wants_probe(const Choice& chosen);
  /// Returns its choice for a probe.
  Choice probe() const { return best_.origin == DraftOrigin::model ? best_ : single_; }

  /// Returns the shape with the most expected tokens per second, even if plain decoding is better, among
  /// those with the given K and L, K at most `max_drafts`, in blocks of at most `max_nodes` nodes. If none is
  /// that small, returns the smallest. `with_trunks`: considers every trunk, otherwise none.
  DraftShape best_shape(const Forecast& forecast, std::optional<std::size_t> K, std::optional<std::size_t> L,
                        std::size_t max_drafts, std::optional<std::size_t> max_nodes, bool with_trunks);

  /// Returns true if it may save more time than it takes to prefill the prompt and compare its end, by the
  /// forecast or by the optimistic saving.
  bool is_worth_reading(const Forecast& forecast) const;
  /// Marks the prompt as processed except for its last token, and learns from the two models' distributions
  /// at nodes 0 to contexts − 1 of a WarmUp. Returns the seconds that a single draft at each of them would
  /// have saved, by the last considered block; negative if it would have lost time.
  Result<double> warm_up(const Choice& plain, NodeId contexts, NodeDistributions& draft,
                         NodeDistributions& target);

  /// Records that it drafts the block as the best choice.
  void exploit();
  /// Records that it drafts the block as a probe, although another choice is better.
  void explore() { count_drafting(); }
  /// Learns from the outcome of its drafts.
  Result<void> observe(const Draft& draft, const Verdict& verdict, NodeDistributions& target);

 private:
  /// The number of remaining tokens, at most that of the longest block, and the depth.
  struct Situation {
    std::size_t left = 0;
    std::size_t depth = 0;
    bool operator==(const Situation&) const = default;
  };

  /// Returns the choice of drafts of this shape with this number of expected tokens.
  Choice choice_of(const Forecast& forecast, double tokens, DraftShape shape) const;
  /// Returns true if the budget allows this choice even if no two of its draft sequences share a prefix.
  bool is_affordable(const Forecast& forecast, const Choice& choice) const;
  /// Returns the seconds of a block that do not depend on the acceptance, and those of its tokens.
  double drafting_seconds(const Forecast& forecast, DraftShape shape, double nodes) const;
  double token_seconds(const Forecast& forecast, DraftShape shape, double tokens) const;
  /// Returns true if the last evaluation would be the same with this situation and budget.
  bool is_known(const Forecast& forecast, const Situation& now) const;
  /// Evaluates all of its choices with this number of remaining tokens.
  void weigh(const Forecast& forecast, std::size_t left);
  /// Evaluates the choices with K draft sequences, given the drafting probability at each position.
  void weigh(const Forecast& forecast, std::size_t left, std::size_t K,
             const AcceptanceEstimate::ByStop& drafted);
  /// Returns the optimistic saving: the seconds that perfect drafts would save in the rest of the completion,
  /// times the share of probes that find such drafts.
  double optimistic_saving(const Choice& chosen) const;
  /// Returns the seconds for processing missed tokens, beyond those it processes anyway: as rows of a pass
  /// or, for many tokens, as a prefill.
  double reading_seconds() const;
  void count_drafting();

  AutoParams params_;
  std::size_t model_;
  AcceptanceEstimate estimate_;
  // The block, and its basis.
  const DraftCosts* costs_ = nullptr;
  std::size_t block_ = 0;
  std::size_t length_ = 0;  // of the sequence; the model has processed `read_` tokens of it
  std::size_t read_ = 0;
  std::size_t left_ = 0;
  // The last evaluation, valid for one situation until more contexts are compared; its budget, and whether
  // that budget excluded a better choice.
  Situation known_for_;
  Choice best_, perfect_, single_;
  double budget_ = 0.0;
  bool forbidden_ = false;
  bool affords_probe_ = false;
  // The number of remaining blocks of the probe, the first block of the next probe, and the gap that follows
  // it.
  std::size_t probes_ = params_.first_probe;
  std::size_t next_probe_ = 0;
  std::size_t gap_ = params_.first_gap;
};

}  // namespace spectr
