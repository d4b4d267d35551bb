// Ranks that share a model: passes of all ranks together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/reference/reference_backend.h"
#include "spectr/nn/transformer.h"
#include "tests/support/data.h"
#include "tests/support/models/model_course.h"
#include "tests/support/models/shared_model.h"
#include "tests/support/wrapping_backend.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

bool is_f32(const ModelSpec& spec) {
  return std::ranges::all_of(spec.weights, [](const WeightSpec& one) { return one.type == TensorType::f32; });
}

class Sharded : public testing::TestWithParam<fs::path> {
 protected:
  std::unique_ptr<Transformer> alone(std::shared_ptr<const Backend> backend) const {
    return Transformer::load(Gguf::open(GetParam()).value(), std::move(backend), {.kv = test::float_kv})
        .value();
  }
};

// The sums of two ranks are those of one in another order. If activations are quantized, a number that
// differs in its last bit may be rounded to a neighbour.
TEST_P(Sharded, TwoRanksGiveTheLogitsOfOne) {
  const test::SharedModel shared(GetParam(), 2, test::float_kv);
  ASSERT_TRUE(shared.outcome()) << shared.outcome().error().message;
  ThreadPool pool(1);
  const auto model = alone(std::make_shared<CpuBackend>(pool));
  EXPECT_LE(test::largest_distance(test::course(shared.model()), test::course(*model)),
            is_f32(model->spec()) ? 1e-5 : 0.03);
}

TEST_P(Sharded, AnyBackendOfTheHostCanBeShared) {
  const auto make = [](ThreadPool&) -> std::unique_ptr<Backend> {
    return std::make_unique<ReferenceBackend>(ReferenceBackend::Precision::f32);
  };
  const test::SharedModel shared(GetParam(), 2, test::float_kv, make);
  ASSERT_TRUE(shared.outcome()) << shared.outcome().error().message;
  const auto model = alone(std::make_shared<ReferenceBackend>(ReferenceBackend::Precision::f32));
  EXPECT_LE(test::largest_distance(test::course(shared.model()), test::course(*model)), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Models, Sharded, testing::ValuesIn(test::shareable_models(Split::rows)),
                         [](const auto& file) { return test::test_name_of(file.param); });

// The ranks' partial answers combined are equal to the answers from whole rows.
TEST(SharedLogits, AnswerEveryQuestionAsTheWholeRowDoes) {
  for (const std::size_t ranks : {2, 3}) {
    const test::SharedModel shared(test::stories(), ranks);
    ASSERT_TRUE(shared.outcome()) << shared.outcome().error().message;
    const auto session = shared.model().start(0, 4).value();
    TokenTree tree(700);
    tree.child(tree.child(TokenTree::root, 5), 6);
    ASSERT_TRUE(session->score(std::vector<Token>{1, 600, 700}, tree));
    for (NodeId node = 0; node < tree.size(); ++node) {
      const Logits row = session->logits(node);
      const auto values = std::get<std::span<const float>>(row.values());
      const std::vector<float> copied(values.begin(), values.end());
      ASSERT_EQ(copied.size(), shared.model().vocabulary());
      for (const std::size_t size : {copied.size(), copied.size() / 2 + 3, std::size_t{5}}) {
        const Logits whole = Logits(std::span<const float>(copied)).first(size), asked = row.first(size);
        for (const std::size_t k : {1, 7, 300}) {
          const auto expected = whole.top(k), found = asked.top(k);
          ASSERT_EQ(found.size(), expected.size());
          for (std::size_t i = 0; i < found.size(); ++i) {
            EXPECT_EQ(found[i].token, expected[i].token);
            EXPECT_EQ(found[i].logit, expected[i].logit);
          }
        }
        EXPECT_NEAR(asked.log_sum_exp(0.7), whole.log_sum_exp(0.7), 1e-5);
      }
      for (const Token token : {0, 17, static_cast<Token>(copied.size() - 1)})
        EXPECT_EQ(row.at(token), copied[static_cast<std::size_t>(token)]);
    }
  }
}

TEST(SharedLogits, StayWhatTheyAreWhileOtherPassesRun) {
  const test::SharedModel shared(test::stories(), 2);
  ASSERT_TRUE(shared.outcome());
  const auto first = shared.model().start(64, 1).value(), second = shared.model().start(64, 1).value();
  ASSERT_TRUE(first->score(std::vector<Token>{1, 600}, TokenTree(600)));
  const auto before = first->logits(TokenTree::root).top(5);
  for (Token token = 10; token < 14; ++token) {
    second->rewind(0);
    ASSERT_TRUE(second->score(std::vector<Token>{1, token}, TokenTree(token)));
  }
  const auto after = first->logits(TokenTree::root).top(5);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i].logit, before[i].logit);
}

TEST(SharedModel, GivesARowTheSameBitsAloneAndInCompany) {
  const test::SharedModel shared(test::stories(), 2);
  ASSERT_TRUE(shared.outcome());
  const auto session = shared.model().start(0, 8).value();
  const std::vector<Token> text{1, 600, 700};
  TokenTree tree(700);
  for (const Token token : {5, 6, 7, 8}) tree.child(TokenTree::root, token);
  ASSERT_TRUE(session->score(text, tree));
  for (NodeId node = 1; node < tree.size(); ++node) {
    const auto alone = shared.model().start(0, 1).value();
    std::vector<Token> longer = text;
    longer.push_back(tree.token(node));
    ASSERT_TRUE(alone->score(longer, TokenTree(longer.back())));
    const auto a = std::get<std::span<const float>>(session->logits(node).values());
    const auto b = std::get<std::span<const float>>(alone->logits(TokenTree::root).values());
    EXPECT_TRUE(std::ranges::equal(a, b));
  }
}

// A session is copied on every rank.
TEST(SharedModel, ASessionThatCopiesAnotherGoesOnWithTheSameBits) {
  const test::SharedModel shared(test::stories(), 2);
  ASSERT_TRUE(shared.outcome());
  const auto first = shared.model().start(64, 1).value(), second = shared.model().start(64, 1).value();
  const std::vector<Token> text{1, 600, 700, 5};
  ASSERT_TRUE(first->score(text, TokenTree(text.back())));
  second->copy(*first, 3);
  EXPECT_EQ(second->length(), 3);
  ASSERT_TRUE(second->score(text, TokenTree(text.back())));
  const auto a = std::get<std::span<const float>>(first->logits(TokenTree::root).values());
  const auto b = std::get<std::span<const float>>(second->logits(TokenTree::root).values());
  EXPECT_TRUE(std::ranges::equal(a, b));
}

/// A rank that lacks memory for a second open sequence.
class MemoryForOne final : public ForwardingOps {
 public:
  MemoryForOne(std::unique_ptr<Ops> ops, bool applies) : ForwardingOps(std::move(ops)), applies_(applies) {}
  CacheId open_cache(const CacheSize& size) override {
    if (applies_ && open_ == 1) throw std::bad_alloc();
    ++open_;
    return ForwardingOps::open_cache(size);
  }
  void close_cache(CacheId cache) override {
    --open_;
    ForwardingOps::close_cache(cache);
  }

 private:
  bool applies_;
  int open_ = 0;
};

TEST(SharedModel, ARankWithoutMemoryForASequenceIsThatOfAll) {
  std::atomic<int> made = 0;
  const test::MakeBackend make = [&made](ThreadPool& pool) {
    return std::make_unique<test::WrappingBackend<MemoryForOne, bool>>(test::cpu_backend(pool), made++ > 0);
  };
  // The first thread is the leader or the other rank: in both cases one of the two lacks memory.
  const test::SharedModel shared(test::stories(), 2, {}, make);
  ASSERT_TRUE(shared.outcome());
  auto first = shared.model().start(64, 1).value();
  const auto refused = shared.model().start(64, 1);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("there is no memory"));
  first.reset();
  const auto again = shared.model().start(64, 1);
  ASSERT_TRUE(again);
  EXPECT_TRUE((*again)->score(std::vector<Token>{1, 600}, TokenTree(600)));
}

/// A rank that fails in the middle of a pass.
class Ending final : public ForwardingOps {
 public:
  Ending(std::unique_ptr<Ops> ops, bool applies) : ForwardingOps(std::move(ops)), applies_(applies) {}
  void attention(std::size_t layer) override {
    if (applies_ && layer == 1) throw std::bad_alloc();
    ForwardingOps::attention(layer);
  }

 private:
  bool applies_;
};

TEST(SharedModel, APassThatARankDoesNotEndIsAnErrorThatNamesIt) {
  const std::thread::id here = std::this_thread::get_id();
  const test::MakeBackend make = [here](ThreadPool& pool) {
    return std::make_unique<test::WrappingBackend<Ending, bool>>(test::cpu_backend(pool),
                                                                 std::this_thread::get_id() != here);
  };
  const test::SharedModel shared(test::stories(), 3, {}, make);
  ASSERT_TRUE(shared.outcome());
  const auto session = shared.model().start(64, 1).value();
  for (int i = 0; i < 2; ++i) {
    const auto result = session->score(std::vector<Token>{1, 600}, TokenTree(600));
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message, testing::ContainsRegex("rank [12] has gone"));
  }
}

TEST(SharedModel, ARankWithAnotherModelOrWithoutTheFileIsNamed) {
  const test::SharedModel other(test::stories(), 2, {}, test::cpu_backend,
                                source_folder() / "tests/data/arch/llama-f32.gguf");
  ASSERT_FALSE(other.outcome());
  EXPECT_THAT(
      other.outcome().error().message,
      testing::AllOf(HasSubstr("rank 1: "), HasSubstr("llama-f32.gguf: the file is of another model")));
  const test::SharedModel none(test::stories(), 2, {}, test::cpu_backend, "/nowhere/model.gguf");
  ASSERT_FALSE(none.outcome());
  EXPECT_THAT(none.outcome().error().message,
              testing::AllOf(HasSubstr("rank 1: "), HasSubstr("/nowhere/model.gguf")));
}

TEST(SharedModel, HasAPartOfTheWeightsAndOfTheKeysAndValuesWithEachRank) {
  const test::SharedModel shared(test::stories(), 2);
  ASSERT_TRUE(shared.outcome());
  ThreadPool pool(1);
  const auto alone =
      Transformer::load(Gguf::open(test::stories()).value(), std::make_shared<CpuBackend>(pool)).value();
  EXPECT_LE(static_cast<double>(shared.model().weight_bytes()),
            0.51 * static_cast<double>(alone->weight_bytes()));
  EXPECT_EQ(2 * shared.model().session_bytes(64, 1), alone->session_bytes(64, 1));
}

}  // namespace
}  // namespace spectr
