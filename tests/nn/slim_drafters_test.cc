// Trained drafters with a shortened head: see Slimming.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/reference/reference_backend.h"
#include "tests/support/models/drafter_course.h"

namespace spectr {
namespace {

using test::drafted_sequence;
using test::DrafterCase;
using testing::HasSubstr;

constexpr float no_logit = -std::numeric_limits<float>::infinity();

std::shared_ptr<const Backend> on_cpu() {
  static ThreadPool pool(2);
  return std::make_shared<CpuBackend>(pool);
}

/// Returns every third token of a vocabulary.
std::vector<Token> every_third(std::size_t vocabulary) {
  std::vector<Token> tokens;
  for (std::size_t token = 0; token < vocabulary; token += 3) tokens.push_back(static_cast<Token>(token));
  return tokens;
}

/// Returns the logits of each node after the sequence.
std::vector<std::vector<float>> rows_after(DrafterSession& session, const std::vector<Token>& text,
                                           const TokenTree& tree) {
  EXPECT_TRUE(session.score(text, tree));
  std::vector<std::vector<float>> all;
  for (NodeId node = 0; node < tree.size(); ++node) {
    all.push_back(test::numbers_of(session.logits(node)));
  }
  return all;
}

/// Expects the whole head's logits for tokens of the shortlist and of the sequence, and no others.
void expect_shortened(const std::vector<std::vector<float>>& found,
                      const std::vector<std::vector<float>>& whole, const std::vector<Token>& text) {
  for (std::size_t node = 0; node < whole.size(); ++node) {
    float size = 0.0F;
    for (const float logit : whole[node]) size = std::max(size, std::abs(logit));
    for (std::size_t token = 0; token < whole[node].size(); ++token) {
      const float expected = whole[node][token], logit = found[node][token];
      if (token % 3 == 0) {
        EXPECT_NEAR(logit, expected, 1e-5F * size) << "node " << node << ", token " << token;
      } else if (std::ranges::find(text, static_cast<Token>(token)) != text.end()) {
        EXPECT_NEAR(logit, expected, 1e-3F * size) << "node " << node << ", token " << token;
      } else {
        EXPECT_EQ(logit, no_logit) << "node " << node << ", token " << token;
      }
    }
  }
}

class SlimDrafters : public testing::TestWithParam<const char*> {};

// Own and shared heads, a scaled one, a Markov head, next-token layers, and a head after the target's cache.
INSTANTIATE_TEST_SUITE_P(Kinds, SlimDrafters,
                         testing::Values("eagle3-norm", "eagle3-shared", "dflash-8", "dflash-6-scaled",
                                         "dspark-7", "mtp-qwen35", "mtp-glm4moe", "assistant"),
                         test::name_of_drafter);

TEST_P(SlimDrafters, HaveTheLogitsOfTheirTokensAndOfTheSequence) {
  for (const bool by_definition : {false, true}) {
    SCOPED_TRACE(by_definition ? "reference backend" : "CPU backend");
    const auto backend = by_definition ? std::make_shared<ReferenceBackend>() : on_cpu();
    const DrafterCase whole(GetParam(), backend);
    const Slimming how{.shortlist = every_third(whole.target().vocabulary())};
    const DrafterCase slim(GetParam(), backend, how);
    const auto of_whole = whole.start(), of_slim = slim.start();
    std::vector<Token> text = drafted_sequence(9);
    TokenTree tree(text.back());
    const NodeId first = tree.child(TokenTree::root, 4), second = tree.child(first, 6);
    const auto found = rows_after(*of_slim.drafter, text, tree);
    expect_shortened(found, rows_after(*of_whole.drafter, text, tree), text);
    EXPECT_EQ(found.front()[4], no_logit) << "tokens of a tree are not part of the sequence";

    for (const auto& sessions : {&of_whole, &of_slim}) {
      const std::vector<NodeId> path = {first, second};
      sessions->target->rewind(text.size() - 1);
      sessions->drafter->keep(path);
    }
    text.insert(text.end(), {4, 6});
    const TokenTree next(text.back());
    const auto longer = rows_after(*of_slim.drafter, text, next);
    expect_shortened(longer, rows_after(*of_whole.drafter, text, next), text);
    EXPECT_NE(longer.front()[4], no_logit);

    for (const auto& sessions : {&of_whole, &of_slim}) {
      sessions->target->rewind(5);
      sessions->drafter->rewind(5);
    }
    text = drafted_sequence(8);
    text[5] = 8;
    const TokenTree other(text.back());
    const auto rewound = rows_after(*of_slim.drafter, text, other);
    expect_shortened(rewound, rows_after(*of_whole.drafter, text, other), text);
    EXPECT_EQ(rewound.front()[4], no_logit);
  }
}

TEST(SlimDrafter, ThatSelectsDraftsOnlyTokensThatItKnows) {
  const DrafterCase whole("dflash2-8", on_cpu());
  const DrafterCase slim("dflash2-8", on_cpu(), {.shortlist = every_third(whole.target().vocabulary())});
  const auto sessions = slim.start();
  const std::vector<Token> text = drafted_sequence(9);
  TokenTree tree(text.back());
  tree.child(TokenTree::root, 6);
  for (const std::vector<float>& row : rows_after(*sessions.drafter, text, tree)) {
    std::size_t finite = 0;
    for (std::size_t token = 0; token < row.size(); ++token) {
      if (row[token] == no_logit) continue;
      ++finite;
      EXPECT_TRUE(token % 3 == 0 || std::ranges::find(text, static_cast<Token>(token)) != text.end())
          << token;
    }
    EXPECT_EQ(finite, slim.drafter().spec().block->selector->candidates);
  }
}

TEST(SlimDrafter, MayBeRequantized) {
  const DrafterCase whole("dflash-8", on_cpu()), slim("dflash-8", on_cpu(), {.type = TensorType::f16});
  const auto of_whole = whole.start(), of_slim = slim.start();
  const std::vector<Token> text = drafted_sequence(9);
  const TokenTree tree(text.back());
  const auto expected = rows_after(*of_whole.drafter, text, tree).front(),
             found = rows_after(*of_slim.drafter, text, tree).front();
  float size = 0.0F;
  for (const float logit : expected) size = std::max(size, std::abs(logit));
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 0.01F * size);
  EXPECT_NE(found, expected);
}

TEST(SlimDrafter, WithFewTokensInItsFileCannotBeShortenedFurther) {
  const DrafterCase whole("eagle3-d2t", on_cpu());
  const auto refused =
      TrainedDrafter::load(Gguf::open(DrafterCase::folder() / "eagle3-d2t.gguf").value(), whole.target(),
                           on_cpu(), nullptr, {.shortlist = every_third(whole.target().vocabulary())});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("eagle3-d2t.gguf: its head already has"));
}

}  // namespace
}  // namespace spectr
