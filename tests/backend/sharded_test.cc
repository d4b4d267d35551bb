// Ranks that share a model: the passes of all together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/reference/reference_backend.h"
#include "spectr/backend/sharded/follower.h"
#include "spectr/backend/sharded/model_part.h"
#include "spectr/backend/sharded/sharded_backend.h"
#include "spectr/backend/sharded/thread_communicator.h"
#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/transformer.h"
#include "tests/support/data.h"
#include "tests/support/model_course.h"
#include "tests/support/wrapping_backend.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;

using Making = std::function<std::unique_ptr<Backend>(ThreadPool&)>;

std::unique_ptr<Backend> cpu(ThreadPool& pool) {
  return std::make_unique<CpuBackend>(pool);
}

/// A model that so many ranks share, each with a thread of its own.
class Shared {
 public:
  Shared(const fs::path& path, std::size_t ranks, const KvChoice& kv = {}, const Making& make = cpu,
         const fs::path& others = {})
      : communicators_(thread_communicators(ranks, 20s)) {
    for (std::size_t rank = 1; rank < ranks; ++rank) {
      threads_.emplace_back([this, rank, make, theirs = others.empty() ? path : others] {
        ThreadPool pool(1);
        const std::unique_ptr<Communicator> mine = std::move(communicators_[rank]);
        try {
          (void)follow(*mine, *make(pool), [&] { return Gguf::open(theirs); }, nullptr);
        } catch (const std::bad_alloc&) {
          return;  // which the leader finds
        }
      });
    }
    auto backend = std::make_shared<ShardedBackend>(make(pool_), *communicators_.front());
    outcome_ = load(path, kv, backend);
  }
  ~Shared() {
    model_.reset();
    communicators_.front().reset();
    for (std::thread& thread : threads_) thread.join();
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  const Result<void>& outcome() const { return outcome_; }
  const Transformer& model() const { return *model_; }

 private:
  Result<void> load(const fs::path& path, const KvChoice& kv,
                    const std::shared_ptr<ShardedBackend>& backend) {
    SPECTR_TRY(Gguf file, Gguf::open(path));
    SPECTR_TRY_VOID(backend->call(file, kv, {}));
    SPECTR_TRY(model_, Transformer::load(std::move(file), backend, {.kv = kv}));
    return backend->all_loaded();
  }

  ThreadPool pool_{1};
  std::vector<std::unique_ptr<Communicator>> communicators_;
  std::vector<std::thread> threads_;
  std::unique_ptr<Transformer> model_;
  Result<void> outcome_;
};

/// Every committed model that two ranks can share.
std::vector<fs::path> shareable() {
  std::vector<fs::path> found;
  for (const fs::path& path : test::course_models()) {
    ModelSpec spec = read_model_spec(Gguf::open(path).value()).value();
    if (take_part_of_layers(spec, {0, 2})) found.push_back(path);
  }
  return found;
}

bool is_f32(const ModelSpec& spec) {
  return std::ranges::all_of(spec.weights, [](const WeightSpec& one) { return one.type == TensorType::f32; });
}

constexpr KvChoice floats{KvType::f32, KvType::f32};

class Sharded : public testing::TestWithParam<fs::path> {
 protected:
  std::unique_ptr<Transformer> alone(std::shared_ptr<const Backend> backend) const {
    return Transformer::load(Gguf::open(GetParam()).value(), std::move(backend), {.kv = floats}).value();
  }
};

// The sums of two ranks are those of one in another order. Where activations are rounded, a number that
// differs in its last bit may be rounded to a neighbour.
TEST_P(Sharded, TwoRanksGiveTheLogitsOfOne) {
  const Shared shared(GetParam(), 2, floats);
  ASSERT_TRUE(shared.outcome()) << shared.outcome().error().message;
  ThreadPool pool(1);
  const auto model = alone(std::make_shared<CpuBackend>(pool));
  EXPECT_LE(test::largest_distance(test::course(shared.model()), test::course(*model)),
            is_f32(model->spec()) ? 1e-5 : 0.03);
}

TEST_P(Sharded, AnyBackendOfTheHostCanBeShared) {
  const auto make = [](ThreadPool&) {
    return std::make_unique<ReferenceBackend>(ReferenceBackend::Precision::f32);
  };
  const Shared shared(GetParam(), 2, floats, make);
  ASSERT_TRUE(shared.outcome()) << shared.outcome().error().message;
  const auto model = alone(std::make_shared<ReferenceBackend>(ReferenceBackend::Precision::f32));
  EXPECT_LE(test::largest_distance(test::course(shared.model()), test::course(*model)), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Models, Sharded, testing::ValuesIn(shareable()),
                         [](const auto& file) { return test::test_name_of(file.param); });

fs::path stories() {
  return source_folder() / "models/spectr-stories-7m-f16.gguf";
}

// What a rank knows of its tokens put together is what whole rows say.
TEST(SharedLogits, AnswerEveryQuestionAsTheWholeRowDoes) {
  for (const std::size_t ranks : {2, 3}) {
    const Shared shared(stories(), ranks);
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
  const Shared shared(stories(), 2);
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
  const Shared shared(stories(), 2);
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

// What a session has computed is copied on every rank.
TEST(SharedModel, ASessionThatCopiesAnotherGoesOnWithTheSameBits) {
  const Shared shared(stories(), 2);
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

/// A rank that has no memory for the second sequence that is open at a time.
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
  const Making make = [&made](ThreadPool& pool) {
    return std::make_unique<test::WrappingBackend<MemoryForOne, bool>>(cpu(pool), made++ > 0);
  };
  // Whoever comes first is the leader, or the other one: either way one of both has too little.
  const Shared shared(stories(), 2, {}, make);
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

/// A rank that ends in the middle of a pass.
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
  const Making make = [here](ThreadPool& pool) {
    return std::make_unique<test::WrappingBackend<Ending, bool>>(cpu(pool),
                                                                 std::this_thread::get_id() != here);
  };
  const Shared shared(stories(), 3, {}, make);
  ASSERT_TRUE(shared.outcome());
  const auto session = shared.model().start(64, 1).value();
  for (int i = 0; i < 2; ++i) {
    const auto result = session->score(std::vector<Token>{1, 600}, TokenTree(600));
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message, testing::ContainsRegex("rank [12] has gone"));
  }
}

TEST(SharedModel, ARankWithAnotherModelOrWithoutTheFileIsNamed) {
  const Shared other(stories(), 2, {}, cpu, source_folder() / "tests/data/arch/llama-f32.gguf");
  ASSERT_FALSE(other.outcome());
  EXPECT_THAT(
      other.outcome().error().message,
      testing::AllOf(HasSubstr("rank 1: "), HasSubstr("llama-f32.gguf: the file is of another model")));
  const Shared none(stories(), 2, {}, cpu, "/nowhere/model.gguf");
  ASSERT_FALSE(none.outcome());
  EXPECT_THAT(none.outcome().error().message,
              testing::AllOf(HasSubstr("rank 1: "), HasSubstr("/nowhere/model.gguf")));
}

TEST(SharedModel, HasAPartOfTheWeightsAndOfTheKeysAndValuesWithEachRank) {
  const Shared shared(stories(), 2);
  ASSERT_TRUE(shared.outcome());
  ThreadPool pool(1);
  const auto alone =
      Transformer::load(Gguf::open(stories()).value(), std::make_shared<CpuBackend>(pool)).value();
  EXPECT_LE(static_cast<double>(shared.model().weight_bytes()),
            0.51 * static_cast<double>(alone->weight_bytes()));
  EXPECT_EQ(2 * shared.model().session_bytes(64, 1), alone->session_bytes(64, 1));
}

}  // namespace
}  // namespace spectr
