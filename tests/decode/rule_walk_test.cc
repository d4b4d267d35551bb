// Yin et al.'s algorithm 2 with arbitrary rules, compared with the recursion that defines it.
#include "spectr/decode/verify/rule_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "spectr/decode/tree_drafter.h"
#include "tests/support/tabular_pair.h"

namespace spectr {
namespace {

using namespace test;

struct Rules {
  std::size_t vocabulary;
  std::vector<RejectionRule> rows;  // indexed by step, then by last token

  const RejectionRule& after(std::size_t step, Token last) const {
    return rows[step * vocabulary + static_cast<std::size_t>(last)];
  }
  Decoder decoder(std::size_t length) const {
    return {std::make_unique<TreeDrafter>(TreeDrafter::sequences(1, length), Drafting::independent),
            std::make_unique<RuleWalk>([this](std::span<const Token> context) -> const RejectionRule& {
              return after(context.size() - 1, context.back());
            })};
  }
};

std::vector<double> probabilities(const TabularModel& model, std::size_t step, Token last) {
  std::vector<double> row;
  for (const double log_p : model.log_row(step, last)) row.push_back(std::exp(log_p));
  return row;
}

/// Returns arbitrary b and P: some b are 0 or 1, some P are 0.
Rules random_rules(std::size_t vocabulary, std::size_t steps, std::mt19937& generator) {
  Rules rules{vocabulary, {}};
  for (std::size_t row = 0; row < steps * vocabulary; ++row) {
    RejectionRule rule;
    double total = 0.0;
    for (std::size_t x = 0; x < vocabulary; ++x) {
      const double b = 1.4 * uniform53(generator) - 0.2, P = std::max(0.0, uniform53(generator) - 0.3);
      rule.accept.push_back(std::clamp(b, 0.0, 1.0));
      rule.correction.push_back(P);
      total += P;
    }
    if (total == 0.0) rule.correction[0] = total = 1.0;
    for (double& P : rule.correction) P /= total;
    rules.rows.push_back(std::move(rule));
  }
  return rules;
}

/// The algorithm as listed in the paper, as a recursion over texts.
struct Listing {
  const TabularPair& pair;
  const Rules& rules;
  std::size_t horizon, length;
  std::map<std::vector<Token>, double> texts = {};
  double calls = 0.0, rejections = 0.0;

  /// Continues `text`, whose last `tested` tokens are accepted drafts of the current block.
  void from(std::vector<Token> text, Token last, std::size_t tested, double mass) {
    if (mass == 0.0) return;
    const std::size_t step = text.size();
    if (step == horizon) {
      texts[text] += mass;
      return;
    }
    if (tested == 0) calls += mass;
    const auto go_on = [&](Token y, std::size_t next, double probability) {
      std::vector<Token> longer = text;
      longer.push_back(y);
      from(std::move(longer), y, next, mass * probability);
    };
    if (tested == length) {  // all were accepted
      const auto q = probabilities(pair.target, step, last);
      for (std::size_t y = 0; y < q.size(); ++y) go_on(static_cast<Token>(y), 0, q[y]);
      return;
    }
    const auto p = probabilities(pair.drafts[0], step, last);
    const RejectionRule& rule = rules.after(step, last);
    double rejected = 0.0;
    for (std::size_t x = 0; x < p.size(); ++x) {
      rejected += p[x] * (1.0 - rule.accept[x]);
      go_on(static_cast<Token>(x), tested + 1, p[x] * rule.accept[x]);
    }
    rejections += mass * rejected;
    for (std::size_t y = 0; y < p.size(); ++y) go_on(static_cast<Token>(y), 0, rejected * rule.correction[y]);
  }
};

DecoderDistribution enumerated(const TabularPair& pair, Decoder decoder, std::size_t horizon) {
  OwnedModels models = pair.models("speculative", decoder, WarpOptions::none(), horizon);
  const Token start[] = {0};
  return enumerate_decoder(decoder, models, start, {.horizon = horizon}).value();
}

TEST(RuleWalk, DecodesAsTheListingDoes) {
  std::mt19937 generator(1);
  for (const std::size_t length : {1, 2, 4}) {
    for (std::uint32_t seed = 0; seed < 4; ++seed) {
      const std::size_t horizon = 4;
      const TabularPair pair = TabularPair::random(3, horizon, seed);
      const Rules rules = random_rules(3, horizon, generator);
      const DecoderDistribution found = enumerated(pair, rules.decoder(length), horizon);
      Listing listing{pair, rules, horizon, length};
      listing.from({}, 0, 0, 1.0);
      EXPECT_LE(total_variation(found.distribution, listing.texts), 1e-14);
      EXPECT_NEAR(found.expected_rejections, listing.rejections, 1e-13);
      EXPECT_NEAR(found.expected_target_calls, listing.calls, 1e-13);
    }
  }
}

/// With b = min(1, (q + ε)/p) and the least biased P, the walk equals biased-opt for every ε.
TEST(RuleWalk, WithTheRuleOfBiasedOptIsBiasedOpt) {
  const std::size_t horizon = 4;
  const TabularPair pair = TabularPair::random(3, horizon, 7);
  for (const double epsilon : {-0.2, 0.0, 0.05, 0.3}) {
    Rules rules{3, {}};
    for (std::size_t step = 0; step < horizon; ++step) {
      for (Token last = 0; last < 3; ++last) {
        const auto p = probabilities(pair.drafts[0], step, last), q = probabilities(pair.target, step, last);
        RejectionRule rule;
        for (std::size_t x = 0; x < 3; ++x) {
          rule.accept.push_back(std::clamp((q[x] + epsilon) / p[x], 0.0, 1.0));
          rule.correction.push_back(std::max(0.0, q[x] - rule.accept[x] * p[x]));
        }
        rules.rows.push_back(std::move(rule));
      }
    }
    MethodOptions options = options_of(1, 2);
    options.epsilon = epsilon;
    const MethodDistribution known = method_distribution(pair, "biased-opt", options, {.horizon = horizon});
    const DecoderDistribution found = enumerated(pair, rules.decoder(2), horizon);
    EXPECT_LE(total_variation(found.distribution, known.exact.distribution), 1e-13);
    if (epsilon >= 0.0) {  // else biased-opt goes on if a residual draw equals the draft
      EXPECT_NEAR(found.expected_rejections, known.exact.expected_rejections, 1e-13);
    } else {
      EXPECT_GT(found.expected_rejections, known.exact.expected_rejections);
      EXPECT_LE(known.tv, 1e-13);
    }
  }
}

}  // namespace
}  // namespace spectr
