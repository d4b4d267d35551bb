// One model for several sequences: from several threads, several per pass, with all types of keys and values.
#include "spectr/nn/transformer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/engine/loaded_model.h"
#include "tests/nn/random_sequences.h"
#include "tests/support/data.h"
#include "tests/support/real_model.h"
#include "tests/support/wrapping_backend.h"

namespace spectr {
namespace {

using namespace test;
using testing::HasSubstr;

// Passes of one model, and of models with the same threads, are serialized.
TEST(Transformer, MayBeUsedFromSeveralThreads) {
  const RealModel model = RealModel::load(tiny_target, 2);
  const auto draft = load_model(*find_data(tiny_draft), *model.pool).value();
  const auto write = [](const Transformer& on, std::uint32_t seed) {
    const auto session = on.start(0, 9).value();
    const auto text = random_text(60, on.vocabulary(), seed);
    std::vector<Row> rows;
    for (std::size_t n = 10; n <= text.size(); n += 10) {
      const TokenTree tree = random_tree(text[n - 1], 9, on.vocabulary(), seed);
      session->rewind(session->length());
      EXPECT_TRUE(session->score(std::span(text).first(n), tree));
      rows.push_back(row_of(*session, 8));
    }
    return rows;
  };
  std::vector<std::vector<Row>> expected;
  for (std::uint32_t i = 0; i < 4; ++i)
    expected.push_back(write(i % 2 == 0 ? *model : *draft.transformer, i));
  for (int round = 0; round < 5; ++round) {
    std::vector<std::vector<Row>> found(4);
    {
      std::vector<std::jthread> threads;
      for (std::uint32_t i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] { found[i] = write(i % 2 == 0 ? *model : *draft.transformer, i); });
      }
    }
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(found[i], expected[i]) << "thread " << i;
  }
}

// Sequences in one pass get the results of separate passes, and an error of one does not affect the others.
TEST(Transformer, ScoresSequencesTogetherAsAlone) {
  const RealModel model = RealModel::load(tiny_target);
  const std::size_t v = model->vocabulary();
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<std::vector<Token>> texts;
  std::vector<TokenTree> trees;
  for (std::uint32_t i = 0; i < 4; ++i) {
    sessions.push_back(model->start(0, 6).value());
    texts.push_back(random_text(20 + 40 * i, v, i));
    trees.push_back(random_tree(texts[i].back(), 6, v, i));
  }
  texts[2][5] = static_cast<Token>(v);  // not in the model's vocabulary
  std::vector<Scoring> scorings;
  for (std::size_t i = 0; i < 4; ++i) scorings.push_back({sessions[i].get(), texts[i], &trees[i]});
  const auto all_over = [&] { return std::ranges::all_of(scorings, &Scoring::is_over); };
  int passes = 0;
  for (; !all_over(); ++passes) EXPECT_GT(model->score_together(scorings), 0u);
  EXPECT_EQ(passes, 3) << "as many as the longest text has pieces";
  for (std::size_t i = 0; i < 4; ++i) {
    if (i == 2) {
      ASSERT_FALSE(scorings[i].result);
      EXPECT_THAT(scorings[i].result.error().message, HasSubstr("is outside the vocabulary"));
      continue;
    }
    ASSERT_TRUE(scorings[i].complete);
    for (NodeId node = 0; node < 6; ++node)
      EXPECT_EQ(row_of(*sessions[i], node), alone(*model, text_at(texts[i], trees[i], node)));
  }
}

// Keys and values of quantized weights are less exact than F16; the default can be overridden.
TEST(Transformer, StoresKeysAndValuesAsItsWeightsAre) {
  const KvTypes f32{KvType::f32, KvType::f32}, f16{KvType::f16, KvType::f16};
  ThreadPool pool(1);
  const auto kv_of = [&](std::string_view name, const LoadOptions& options = {}) {
    return load_model(find_data(name).value(), pool, options).value().transformer->kv();
  };
  EXPECT_EQ(kv_of(tiny_target), f32);
  EXPECT_EQ(kv_of(tiny_target, {{KvType::f16, KvType::f16}}), f16);
  EXPECT_EQ(kv_of("models/spectr-stories-draft-0.3m-f16.gguf"), f16);
  EXPECT_EQ(kv_of("models/spectr-stories-draft-0.3m-f16.gguf", {{KvType::f32, KvType::f32}}), f32);
  EXPECT_EQ(kv_of(bundled_draft), f16);
  EXPECT_EQ(kv_of(tiny_target, {{{}, KvType::f16}}), (KvTypes{KvType::f32, KvType::f16}));
}

/// Ops whose passes of several sequences run out of memory after they have begun.
class NoMemoryForTwo final : public ForwardingOps {
 public:
  using ForwardingOps::ForwardingOps;
  void begin(const PassBatch& batch) override {
    ForwardingOps::begin(batch);
    if (batch.caches.front() != batch.caches.back()) throw std::bad_alloc();
  }
};

TEST(Transformer, ScoresAloneWhatItHasNoMemoryForTogether) {
  ThreadPool pool(1);
  const auto model =
      Transformer::load(Gguf::open(*find_data(tiny_target)).value(),
                        std::make_shared<WrappingBackend<NoMemoryForTwo>>(std::make_unique<CpuBackend>(pool)))
          .value();
  const std::vector<Token> a = random_text(20, model->vocabulary(), 1),
                           b = random_text(90, model->vocabulary(), 2);
  const auto one = model->start(0, 1).value(), two = model->start(0, 1).value();
  const TokenTree tree_a(a.back()), tree_b(b.back());
  Scoring scorings[] = {{one.get(), a, &tree_a}, {two.get(), b, &tree_b}};
  for (int i = 0; i < 2; ++i) model->score_together(scorings);
  for (const Scoring& scoring : scorings) EXPECT_TRUE(scoring.complete);
  EXPECT_EQ(row_of(*one, TokenTree::root), alone(*model, a));
  EXPECT_EQ(row_of(*two, TokenTree::root), alone(*model, b));
}

}  // namespace
}  // namespace spectr
