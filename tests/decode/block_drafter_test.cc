// Draft models whose rows depend only on the depth in a block or on the last token, like those of block
// drafters: tests of the rows, and of lossless methods, which must stay lossless.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "spectr/lm/block_table_model.h"
#include "spectr/lm/prefix_table_model.h"
#include "spectr/transport/plans.h"
#include "tests/support/tabular_pair.h"
#include "tests/support/value_of.h"

namespace spectr {
namespace {

using namespace test;

constexpr BlockRows kinds[] = {BlockRows::product, BlockRows::markov};

/// Starts sessions of a target and of the number of copies of a draft model that the method takes.
OwnedModels models_of(std::string_view method, const Decoder& decoder, const LanguageModel& draft,
                      const LanguageModel& target, std::size_t tokens) {
  const MethodRule& rule = *value_of(find_method(method));
  const std::vector<const LanguageModel*> drafts(std::min<std::size_t>(rule.models.max, 2), &draft);
  return value_of(OwnedModels::start(target, drafts, value_of(Warp::make(WarpOptions::none())), 0,
                                     decoder.max_nodes(tokens)));
}

/// A lossless method with a draft model, and its options.
struct Lossless {
  std::string_view method;
  MethodOptions options;

  std::string text() const { return fmt::format("{} {}", method, options.plan.value_or("")); }
};

std::vector<Lossless> lossless_methods() {
  std::vector<Lossless> all;
  for (const MethodRule& rule : method_rules()) {
    if (!rule.lossless || rule.models.max == 0) continue;
    MethodOptions options = options_of(2, 2);
    options.costs = costs_of(std::min<std::size_t>(rule.models.max, 2));
    if (rule.name == "tree") options.tree = {2, 1};
    all.push_back({rule.name, options});
  }
  for (const char* plan : {"optimal", "recursive", "recursive-wor"})
    all.push_back({"spectr", options_of(2, 2, plan)});
  MethodOptions look = options_of(2, 2), late = look;
  look.look = true;
  late.trunk = 1;
  all.push_back({"conditional", look});
  all.push_back({"conditional", late});
  return all;
}

double error_of(const Lossless& with, const LanguageModel& draft, const LanguageModel& target, bool markov) {
  Decoder decoder = decoder_of(with.method, with.options);
  OwnedModels models = models_of(with.method, decoder, draft, target, 3);
  const EnumerationOptions enumeration{.horizon = 3, .markov = markov};
  const Token prompt[] = {1};
  const auto found = value_of(enumerate_decoder(decoder, models, prompt, enumeration));
  return total_variation(found.distribution, value_of(enumerate_target(models, prompt, enumeration)));
}

double block_tokens(const Lossless& with, const LanguageModel& draft, const LanguageModel& target) {
  Decoder decoder = decoder_of(with.method, with.options);
  OwnedModels models = models_of(with.method, decoder, draft, target, 3);
  const Token prompt[] = {1};
  return value_of(expected_block_tokens(decoder, models, prompt, {.horizon = 3}));
}

TEST(BlockDrafter, KeepsEveryLosslessMethodLossless) {
  for (const Lossless& with : lossless_methods()) {
    for (std::uint32_t seed = 1; seed <= 4; ++seed) {
      const std::size_t V = 2 + seed % 2;
      const TabularPair pair = seed <= 2 ? TabularPair::random(V, 3, seed) : TabularPair::sparse(V, 3, seed);
      for (const BlockRows kind : kinds) {
        EXPECT_LE(error_of(with, BlockTableModel(pair.drafts.front(), kind), pair.target, true), 1e-12)
            << with.text() << ", seed " << seed;
      }
    }
  }
}

TEST(BlockDrafter, KeepsEveryLosslessMethodLosslessOnRowsByPrefix) {
  const PrefixTableModel p(2, {{{}, {0.6, 0.4}}, {{0}, {0.9, 0.1}}, {{0, 1}, {0.5, 0.5}}}),
      q(2, {{{}, {0.5, 0.5}}, {{1}, {0.6, 0.4}}, {{1, 0}, {0.0, 1.0}}});
  for (const Lossless& with : lossless_methods()) {
    for (const BlockRows kind : kinds)
      EXPECT_LE(error_of(with, BlockTableModel(p, kind), q, false), 1e-12) << with.text();
  }
}

/// Returns a table with one row of p per step, independent of the last token.
TabularModel by_step(const TabularModel& p, std::size_t steps) {
  std::vector<double> rows;
  const std::size_t V = p.vocabulary();
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t last = 0; last < V; ++last) {
      for (const double log : p.log_row(step / V, static_cast<Token>(step % V)))
        rows.push_back(std::exp(log));
    }
  }
  return {V, steps, rows};
}

TEST(BlockDrafter, OfAProductDraftsItsFirstBlockFromTheRowsInTheOrderDrawn) {
  const TabularPair pair = TabularPair::random(3, 3, 7);
  const TabularModel& p = pair.drafts.front();
  for (const Lossless& with : lossless_methods()) {
    EXPECT_NEAR(block_tokens(with, BlockTableModel(p, BlockRows::product), pair.target),
                block_tokens(with, by_step(p, 3), pair.target), 1e-12)
        << with.text();
  }
  // The next block starts again with the first row.
  const BlockTableModel rows(p, BlockRows::product);
  const auto session = value_of(rows.start(0, 8));
  TokenTree tree(2);
  const NodeId child = tree.child(TokenTree::root, 1);
  ASSERT_TRUE(session->score(std::vector<Token>{0, 1, 2}, tree));
  EXPECT_EQ(session->logits(TokenTree::root).at(1), p.log_row(0, 0)[1]);
  EXPECT_EQ(session->logits(child).at(1), p.log_row(0, 1)[1]);
}

TEST(BlockDrafter, OfAMarkovChainDraftsFromTheRowOfTheLastToken) {
  const TabularPair pair = TabularPair::random(3, 3, 8);
  const TabularModel& p = pair.drafts.front();
  std::vector<double> first;
  for (const double log : p.log_rows().first(9)) first.push_back(std::exp(log));
  const TabularModel always(3, 1, first);
  for (const Lossless& with : lossless_methods()) {
    EXPECT_NEAR(block_tokens(with, BlockTableModel(p, BlockRows::markov), pair.target),
                block_tokens(with, always, pair.target), 1e-12)
        << with.text();
  }
}

}  // namespace
}  // namespace spectr
