#include "spectr/decode/decoder_distribution.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "spectr/base/enumerator.h"
#include "spectr/base/recycled.h"

namespace spectr {
namespace {

std::unexpected<Error> too_many(double max_outcomes) {
  return error("enumerating the decoder takes more than the {:.3g} outcomes that are allowed", max_outcomes);
}

/// An outcome of a block and its probability.
struct Outcome {
  RecycledVector<Token> tokens;
  double probability;
  std::size_t target_calls;
  bool corrected;
};

/// The outcomes of the blocks of one enumeration.
class BlockOutcomes {
 public:
  BlockOutcomes(Decoder& decoder, Models& models, const EnumerationOptions& options)
      : decoder_(decoder), models_(models), options_(options), left_(options.max_outcomes) {
    // A draft model that lacks some of the target's tokens does not draft after a sequence that contains one
    // (see draft_depth).
    const auto has_all = [&](const auto& draft) { return draft->vocabulary() >= models.vocabulary(); };
    markov_ = options.markov && !decoder.drafter().reads_sequence() && !models.warp.reads_history() &&
              std::ranges::all_of(models.drafts, has_all);
  }

  /// Returns the number of outcomes of drafting, summed over all starts of a block. The verifier's draws are
  /// not included; they are counted during the enumeration.
  double expected() const {
    const auto v = static_cast<double>(models_.vocabulary());
    double all = 0.0;
    for (std::size_t left = 1; left <= options_.horizon; ++left) {
      const double starts = markov_ ? v : std::pow(v, static_cast<double>(options_.horizon - left));
      all += starts * decoder_.drafter().outcomes(models_.vocabulary(), left);
    }
    return all;
  }

  /// Returns the outcomes of the block that starts there; valid until the next call. Sequences that models,
  /// drafter and filters cannot distinguish share their outcomes.
  Result<const std::vector<Outcome>*> of(const BlockStart& start) {
    if (!markov_) {
      SPECTR_TRY(last_, enumerate(start));
      return &last_;
    }
    const std::pair state{start.left, start.sequence.back()};
    auto at = by_state_.find(state);
    if (at == by_state_.end()) {
      SPECTR_TRY(auto outcomes, enumerate(start));
      at = by_state_.emplace(state, std::move(outcomes)).first;
    }
    return &at->second;
  }

 private:
  Result<std::vector<Outcome>> enumerate(const BlockStart& start) {
    // Outcomes with equal tokens and cost are merged immediately, which leaves far fewer of them.
    std::map<RecycledVector<Token>, Outcome> merged;
    Enumerator choices;
    do {
      if (--left_ < 0.0) return too_many(options_.max_outcomes);
      SPECTR_TRY(Block block, decoder_.step(start, models_, choices));
      const bool corrected = block.sources.back() == Source::correction;
      RecycledVector<Token> key = block.tokens;
      key.push_back(corrected ? 1 : 0);
      key.push_back(static_cast<Token>(block.target_calls));
      auto [at, fresh] = merged.try_emplace(std::move(key));
      if (fresh) at->second = {std::move(block.tokens), 0.0, block.target_calls, corrected};
      at->second.probability += choices.probability();
    } while (choices.next());
    std::vector<Outcome> outcomes;
    for (auto& [key, outcome] : merged) outcomes.push_back(std::move(outcome));
    return outcomes;
  }

  Decoder& decoder_;
  Models& models_;
  const EnumerationOptions& options_;
  bool markov_ = false;  // a block depends only on the sequence's length and its last token
  double left_;          // remaining number of outcomes
  std::vector<Outcome> last_;
  std::map<std::pair<std::size_t, Token>, std::vector<Outcome>> by_state_;
};

/// Enumerates whole runs, for decoders whose blocks depend on more than the sequence, or with a feedback,
/// whose state belongs to a run.
Result<DecoderDistribution> enumerate_runs(Decoder& decoder, Models& models, std::span<const Token> prompt,
                                           const EnumerationOptions& options) {
  DecoderDistribution result;
  double blocks_left = options.max_outcomes;
  Enumerator choices;
  do {
    std::vector<Token> sequence(prompt.begin(), prompt.end());
    std::size_t blocks = 0, calls = 0, corrections = 0;
    models.warp.restart_feedback();
    SPECTR_TRY_VOID(decoder.drafter().open({sequence, options.horizon, blocks, options.ends}, models));
    for (bool ended = false; !ended;) {
      const std::size_t left = options.horizon - (sequence.size() - prompt.size());
      const BlockStart start{sequence, left, blocks++, options.ends};
      if (--blocks_left < 0.0) return too_many(options.max_outcomes);
      SPECTR_TRY(const Block block, decoder.step(start, models, choices));
      sequence.insert(sequence.end(), block.tokens.begin(), block.tokens.end());
      calls += block.target_calls;
      corrections += block.sources.back() == Source::correction ? 1 : 0;
      ended = block.tokens.size() == left || start.is_end(sequence.back());
    }
    const double p = choices.probability();
    result.distribution[{sequence.begin() + static_cast<std::ptrdiff_t>(prompt.size()), sequence.end()}] += p;
    result.expected_target_calls += p * static_cast<double>(calls);
    result.expected_rejections += p * static_cast<double>(corrections);
  } while (choices.next());
  return result;
}

}  // namespace

Result<DecoderDistribution> enumerate_decoder(Decoder& decoder, Models& models, std::span<const Token> prompt,
                                              const EnumerationOptions& options) {
  if (decoder.drafter().is_stateful() || models.warp.feedback())
    return enumerate_runs(decoder, models, prompt, options);
  BlockOutcomes blocks(decoder, models, options);
  if (const double expected = blocks.expected(); expected > options.max_outcomes) {
    return error("enumerating the decoder takes {:.3g} outcomes, at most {:.3g} are allowed", expected,
                 options.max_outcomes);
  }
  DecoderDistribution result;
  // Probability that a block starts after this output, by length of the output.
  std::vector<std::map<std::vector<Token>, double>> starts(options.horizon + 1);
  starts[0][{}] = 1.0;
  for (std::size_t length = 0; length < options.horizon; ++length) {
    for (const auto& [output, mass] : starts[length]) {
      std::vector<Token> sequence(prompt.begin(), prompt.end());
      sequence.insert(sequence.end(), output.begin(), output.end());
      const BlockStart start{sequence, options.horizon - length, length, options.ends};

      SPECTR_TRY(const std::vector<Outcome>* outcomes, blocks.of(start));
      for (const Outcome& outcome : *outcomes) {
        const double p = mass * outcome.probability;
        std::vector<Token> longer = output;
        longer.insert(longer.end(), outcome.tokens.begin(), outcome.tokens.end());
        result.expected_target_calls += p * static_cast<double>(outcome.target_calls);
        if (outcome.corrected) result.expected_rejections += p;
        if (longer.size() == options.horizon || start.is_end(longer.back())) {
          result.distribution[longer] += p;
        } else {
          starts[longer.size()][longer] += p;
        }
      }
    }
    starts[length].clear();
  }
  return result;
}

Result<double> expected_block_tokens(Decoder& decoder, Models& models, std::span<const Token> prompt,
                                     const EnumerationOptions& options) {
  const BlockStart start{prompt, options.horizon, 0, options.ends};
  double outcomes_left = options.max_outcomes, expected = 0.0;
  Enumerator choices;
  do {
    if (--outcomes_left < 0.0) return too_many(options.max_outcomes);
    models.warp.restart_feedback();
    if (decoder.drafter().is_stateful()) SPECTR_TRY_VOID(decoder.drafter().open(start, models));
    SPECTR_TRY(const Block block, decoder.step(start, models, choices));
    expected += choices.probability() * static_cast<double>(block.tokens.size());
  } while (choices.next());
  return expected;
}

Result<std::map<std::vector<Token>, double>> enumerate_target(Models& models, std::span<const Token> prompt,
                                                              const EnumerationOptions& options) {
  std::map<std::vector<Token>, double> distribution;
  struct Start {
    std::vector<Token> output;
    double mass;
    FeedbackState state;
  };
  models.warp.restart_feedback();
  std::vector<Start> level = {{{}, 1.0, models.warp.feedback_state()}};
  for (std::size_t length = 0; length < options.horizon; ++length) {
    std::vector<Start> next;
    for (const auto& [output, mass, state] : level) {
      std::vector<Token> sequence(prompt.begin(), prompt.end());
      sequence.insert(sequence.end(), output.begin(), output.end());
      const TokenTree root(sequence.back());
      SPECTR_TRY_VOID(models.target.score(sequence, root));
      models.warp.set_feedback_state(state);
      NodeDistributions distributions(models.target, models.warp, sequence, root, models.vocabulary());
      SPECTR_TRY(const Distribution* q, distributions.at(TokenTree::root));
      for (std::size_t i = 0; i < q->size(); ++i) {
        const double p = mass * q->probabilities()[i];
        if (p == 0.0) continue;
        std::vector<Token> longer = output;
        longer.push_back(q->token(i));
        const bool done = longer.size() == options.horizon ||
                          std::ranges::find(options.ends, q->token(i)) != options.ends.end();
        if (done) {
          distribution[std::move(longer)] += p;
        } else {
          FeedbackState after = state;
          if (models.warp.feedback()) {
            SPECTR_TRY(after, distributions.feedback_after(TokenTree::root, q->token(i)));
          }
          next.push_back({std::move(longer), p, after});
        }
      }
    }
    level = std::move(next);
  }
  return distribution;
}

double total_variation(const std::map<std::vector<Token>, double>& a,
                       const std::map<std::vector<Token>, double>& b) {
  double sum = 0.0;
  for (const auto& [output, p] : a) {
    const auto at = b.find(output);
    sum += std::abs(p - (at == b.end() ? 0.0 : at->second));
  }
  for (const auto& [output, p] : b) {
    if (!a.contains(output)) sum += p;
  }
  return 0.5 * sum;
}

}  // namespace spectr
