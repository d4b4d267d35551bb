// Draft models that are made smaller while they are loaded.
#include "spectr/nn/slimming.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/reference/reference_backend.h"
#include "spectr/gguf/quantize.h"
#include "tests/nn/random_sequences.h"
#include "tests/support/data.h"

namespace spectr {
namespace {

using testing::HasSubstr;

constexpr float nothing = -std::numeric_limits<float>::infinity();

/// A head tied to the embedding, one with its own matrix, one in F16, one in a file of many
/// formats, and one with capped logits.
const std::string files[] = {"models/stories260K-f32.gguf", "arch/gptneox-f32.gguf",
                             "models/spectr-stories-draft-0.3m-f16.gguf", "arch/llama-formats-32.gguf",
                             "arch/gemma2-f32.gguf"};

std::unique_ptr<Transformer> load(const std::string& name, const Slimming& slimming, ThreadPool& pool,
                                  std::shared_ptr<const Backend> backend = nullptr) {
  if (backend == nullptr) backend = std::make_shared<CpuBackend>(pool);
  return Transformer::load(Gguf::open(find_data(name).value()).value(), std::move(backend),
                           {.slimming = slimming, .pool = &pool})
      .value();
}

/// Returns every third token.
std::vector<Token> thirds(std::size_t vocabulary) {
  std::vector<Token> tokens;
  for (std::size_t token = 0; token < vocabulary; token += 3) tokens.push_back(static_cast<Token>(token));
  return tokens;
}

// Rows of the shortlist's matrix are computed as in the full matrix. For the sequence's own tokens, neither
// weights nor activations are rounded.
TEST(Slimming, AShortlistHasTheLogitsOfItsTokensAndOfTheSequencesOwn) {
  ThreadPool pool(2);
  for (const std::string& file : files) {
    const auto whole = load(file, {}, pool);
    const std::size_t v = whole->vocabulary();
    const auto slim = load(file, {.shortlist = thirds(v)}, pool);
    const std::vector<Token> text = random_text(12, v, 5);
    const Row expected = alone(*whole, text), found = alone(*slim, text);
    float size = 0;
    for (const float logit : expected) size = std::max(size, std::abs(logit));
    ASSERT_EQ(found.size(), v);
    for (std::size_t i = 0; i < v; ++i) {
      const bool own = std::ranges::find(text, static_cast<Token>(i)) != text.end();
      if (i % 3 == 0) {
        EXPECT_EQ(found[i], expected[i]) << file << ", token " << i;
      } else if (own) {
        EXPECT_NEAR(found[i], expected[i], 0.03f * size) << file << ", token " << i;
      } else {
        EXPECT_EQ(found[i], nothing) << file << ", token " << i;
      }
    }
  }
}

TEST(Slimming, TheReferenceBackendComputesTheSame) {
  ThreadPool pool(1);
  for (const std::string& file : {files[0], files[1], files[4]}) {
    const Slimming how{.shortlist = {2, 3, 5, 7, 11, 13}};
    const std::vector<Token> text = random_text(9, 32, 6);
    const Row expected = alone(*load(file, how, pool, std::make_shared<ReferenceBackend>()), text);
    const Row found = alone(*load(file, how, pool), text);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (expected[i] == nothing) {
        EXPECT_EQ(found[i], nothing) << file << ", token " << i;
      } else {
        EXPECT_NEAR(found[i], expected[i], 1e-3f * (1 + std::abs(expected[i]))) << file << ", token " << i;
      }
    }
  }
}

// A row depends on its own sequence only, not on what the session computed before or on a tree's nodes.
TEST(Slimming, TokensOfARewoundTextAreForgotten) {
  ThreadPool pool(2);
  const std::string& file = files[0];
  const auto slim = load(file, {.shortlist = thirds(512)}, pool);
  const auto session = slim->start(0, 6).value();
  const std::vector<Token> text = random_text(30, 512, 7), other = random_text(30, 512, 8);
  ASSERT_TRUE(session->score(text, TokenTree(text.back())));
  std::vector<Token> mixed(text.begin(), text.begin() + 10);
  mixed.insert(mixed.end(), other.begin(), other.begin() + 10);
  session->rewind(10);
  TokenTree tree(mixed.back());
  const NodeId child = tree.child(TokenTree::root, 4);  // a token in a tree is not part of the sequence yet
  ASSERT_TRUE(session->score(mixed, tree));
  EXPECT_EQ(row_of(*session, TokenTree::root), alone(*slim, mixed));
  EXPECT_EQ(row_of(*session, child)[4], nothing);
  session->keep(tree.path(child));
  mixed.push_back(4);
  ASSERT_TRUE(session->score(mixed, TokenTree(4)));
  EXPECT_EQ(row_of(*session, TokenTree::root), alone(*slim, mixed));
  EXPECT_GT(row_of(*session, TokenTree::root)[4], nothing);
}

TEST(Slimming, SequencesInOnePassHaveTheirOwnTokens) {
  ThreadPool pool(1);
  const auto slim = load(files[0], {.shortlist = thirds(512)}, pool);
  const std::vector<Token> texts[] = {random_text(8, 512, 1), random_text(11, 512, 2)};
  const TokenTree trees[] = {TokenTree(texts[0].back()), TokenTree(texts[1].back())};
  const auto first = slim->start(0, 1).value(), second = slim->start(0, 1).value();
  Scoring both[] = {{first.get(), texts[0], &trees[0]}, {second.get(), texts[1], &trees[1]}};
  slim->score_together(both);
  EXPECT_EQ(row_of(*first, 0), alone(*slim, texts[0]));
  EXPECT_EQ(row_of(*second, 0), alone(*slim, texts[1]));
}

TEST(Slimming, MatricesBecomeTheTypeThatIsAskedFor) {
  ThreadPool pool(2);
  const std::string file = "models/spectr-stories-7m-f16.gguf";
  const auto whole = load(file, {}, pool);
  const Row expected = alone(*whole, random_text(12, whole->vocabulary(), 3));
  double before = 0.0;
  for (const TensorType type : {TensorType::f32, TensorType::q8_0, TensorType::q5_1, TensorType::q4_0}) {
    const auto slim = load(file, {.type = type}, pool);
    for_each_linear(slim->spec(), [&](const LinearSpec& linear, double) {
      EXPECT_EQ(slim->spec().weight(linear.weight).type, type);
    });
    const Row found = alone(*slim, random_text(12, whole->vocabulary(), 3));
    const double difference = largest_difference(found, expected);
    EXPECT_LT(difference, 4.0) << format_of(type).name;
    EXPECT_GE(difference, 0.5 * before) << format_of(type).name << ": fewer bits, larger errors";
    before = difference;
  }
  const auto slim = load(file, {.type = TensorType::q4_0}, pool);
  EXPECT_LT(slim->weight_bytes(), 0.3 * static_cast<double>(whole->weight_bytes()));
}

TEST(Slimming, AFileThatHasTheTypeStaysAsItIs) {
  ThreadPool pool(1);
  const std::string file = "models/spectr-stories-draft-0.6m-q8_0.gguf";
  const auto whole = load(file, {}, pool), slim = load(file, {.type = TensorType::q8_0}, pool);
  const std::vector<Token> text = random_text(12, whole->vocabulary(), 3);
  EXPECT_EQ(alone(*slim, text), alone(*whole, text));
}

TEST(Slimming, WhatCannotBeMadeIsNamed) {
  ThreadPool pool(1);
  const auto refused = [&](const std::string& file, TensorType type) {
    const auto model =
        Transformer::load(Gguf::open(find_data(file).value()).value(), std::make_shared<CpuBackend>(pool),
                          {.slimming = {.type = type}, .pool = &pool});
    return model ? "none" : model.error().message;
  };
  EXPECT_THAT(refused(files[0], TensorType::q4_k), HasSubstr("matrices can't be made Q4_K, but F32, F16"));
  // Its feed-forward block has 172 columns.
  EXPECT_THAT(refused(files[0], TensorType::q8_0),
              HasSubstr("tensor blk.0.ffn_down.weight has 172 columns: it can't be made Q8_0, whose blocks"));
}

}  // namespace
}  // namespace spectr
