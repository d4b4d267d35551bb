// The end of a prompt is used to estimate acceptance, and is still read as usual.
#include "spectr/decode/look.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tests/support/real_model.h"
#include "tests/support/tabular_pair.h"
#include "tests/support/value_of.h"

namespace spectr {
namespace {

using namespace test;

std::vector<double> row(const Session& session, NodeId node) {
  const Logits logits = session.logits(node);
  std::vector<double> row(logits.size());
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = logits.at(static_cast<Token>(i));
  return row;
}

std::vector<double> row_behind(const LanguageModel& model, std::span<const Token> sequence) {
  const auto session = value_of(model.start(sequence.size() + 1, 1));
  EXPECT_TRUE(session->score(sequence, TokenTree(sequence.back())));
  return row(*session, TokenTree::root);
}

TEST(Look, TellsTheDistributionsBehindTheLastTokensButOne) {
  const TabularModel table = TabularPair::random(3, 10, 1).target;
  WarpOptions options = WarpOptions::none();
  options.repeat_penalty = 1.5;  // makes distributions depend on the whole sequence
  const Warp warp = value_of(Warp::make(options));
  const std::vector<Token> sequence = {0, 2, 1, 1, 0, 2, 2};
  for (std::size_t n = 2; n <= sequence.size(); ++n) {
    const std::span<const Token> prompt = std::span(sequence).first(n);
    const Look look(prompt, 4);
    const auto contexts = static_cast<std::size_t>(look.positions());
    EXPECT_EQ(contexts, std::min<std::size_t>(n - 1, 4));
    const auto session = value_of(table.start(16, 8));
    ASSERT_TRUE(look.score(*session));
    NodeDistributions distributions = look.distributions(*session, warp, 3, NodeDistributions::Role::target);
    for (std::size_t context = 0; context < contexts; ++context) {
      const auto before = prompt.first(n - contexts + context);
      const Distribution expected =
          value_of(warp.distribution(std::span<const double>(row_behind(table, before)), before, 3));
      const Distribution* found = value_of(distributions.at(static_cast<NodeId>(context)));
      for (Token token = 0; token < 3; ++token)
        EXPECT_EQ((*found)[token], expected[token]) << n << ", " << context;
    }
  }
}

TEST(Look, LeavesAModelAsIfItHadReadThePrompt) {
  const RealModel model = RealModel::load(tiny_target);
  const std::vector<Token> sequence = model.tokenizer->encode("Once upon a time there was a girl");
  ASSERT_GT(sequence.size(), 6U);
  for (std::size_t n = 2; n <= sequence.size(); ++n) {
    const std::span<const Token> prompt = std::span(sequence).first(n);
    const Look look(prompt, 4);
    // The sessions have read nothing, half of the prompt, or all of it.
    for (const std::size_t known : {std::size_t{0}, n / 2, n}) {
      const auto session = value_of(model->start(n + 1, 8));
      if (known > 0) {
        ASSERT_TRUE(session->score(prompt.first(known), TokenTree(prompt[known - 1])));
      }
      ASSERT_TRUE(look.score(*session));
      for (NodeId context = 0; context < look.positions(); ++context) {
        const auto missing = static_cast<std::size_t>(look.positions() - context);
        EXPECT_EQ(row(*session, context), row_behind(*model, prompt.first(n - missing)));
      }
      look.keep(*session);
      EXPECT_EQ(session->length(), n - 1);
      ASSERT_TRUE(session->score(prompt, TokenTree(prompt.back())));
      EXPECT_EQ(row(*session, TokenTree::root), row_behind(*model, prompt)) << n << ", known " << known;
    }
  }
}

}  // namespace
}  // namespace spectr
