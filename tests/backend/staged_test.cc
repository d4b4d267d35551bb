// Ranks with layers of their own (pipeline parallelism), and several models on one communicator in turn.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/sharded/follower.h"
#include "spectr/backend/sharded/messages.h"
#include "spectr/backend/sharded/sharded_backend.h"
#include "spectr/backend/sharded/thread_communicator.h"
#include "spectr/base/version.h"
#include "spectr/gguf/fingerprint.h"
#include "spectr/nn/transformer.h"
#include "tests/support/models/model_course.h"
#include "tests/support/models/shared_model.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Staged : public testing::TestWithParam<fs::path> {};

// A row passes through the same layers in the same order, and no other sums are formed.
TEST_P(Staged, RanksWithLayersOfTheirOwnGiveTheBitsOfOne) {
  const test::SharedModel shared(GetParam(), 2, test::float_kv, test::cpu_backend, {}, Split::layers);
  ASSERT_TRUE(shared.outcome()) << shared.outcome().error().message;
  ThreadPool pool(1);
  const auto model = Transformer::load(Gguf::open(GetParam()).value(), std::make_shared<CpuBackend>(pool),
                                       {.kv = test::float_kv})
                         .value();
  EXPECT_EQ(test::largest_distance(test::course(shared.model()), test::course(*model)), 0.0);
}

INSTANTIATE_TEST_SUITE_P(Models, Staged, testing::ValuesIn(test::shareable_models(Split::layers)),
                         [](const auto& file) { return test::test_name_of(file.param); });

// For the leader, a pass over a piece of a prompt ends when its own layers are done.
TEST(StagedModel, PromptsOfManyPiecesOnThreeRanksGiveTheBitsOfOne) {
  const test::SharedModel shared(test::stories(), 3, {}, test::cpu_backend, {}, Split::layers);
  ASSERT_TRUE(shared.outcome()) << shared.outcome().error().message;
  ThreadPool pool(1);
  const auto alone =
      Transformer::load(Gguf::open(test::stories()).value(), std::make_shared<CpuBackend>(pool)).value();
  std::vector<Token> text(500);
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<Token>(1 + 7 * i % 900);
  TokenTree tree(text.back());
  for (const Token token : {5, 6, 7}) tree.child(TokenTree::root, token);
  const auto logits_of = [&](const Transformer& model) {
    const auto session = model.start(0, 4).value();
    EXPECT_TRUE(session->score(text, tree));
    std::vector<float> all;
    for (NodeId node = 0; node < tree.size(); ++node) {
      const auto row = std::get<std::span<const float>>(session->logits(node).values());
      all.insert(all.end(), row.begin(), row.end());
    }
    return all;
  };
  EXPECT_EQ(logits_of(shared.model()), logits_of(*alone));
}

TEST(StagedModel, TellsWhatItsRanksComputeAndWhatExchangesCost) {
  for (const Split split : {Split::rows, Split::layers}) {
    const test::SharedModel shared(test::stories(), 3, {}, test::cpu_backend, {}, split);
    ASSERT_TRUE(shared.outcome());
    ShardedBackend& ranks = shared.backend();
    const auto session = shared.model().start(0, 1).value();
    ASSERT_TRUE(ranks.take_times());
    for (const Token token : {600, 700}) {
      session->rewind(0);
      ASSERT_TRUE(session->score(std::vector<Token>{1, token}, TokenTree(token)));
    }
    const auto times = ranks.take_times().value();
    ASSERT_EQ(times.size(), 3);
    for (std::size_t rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(times[rank].passes, 2);
      EXPECT_GT(times[rank].computing, 0.0);
      const std::size_t layers = shared.model().spec().layers.size();
      const std::size_t a_pass = split == Split::rows ? 2 * layers + 1 : 2;
      if (rank > 0) {
        EXPECT_EQ(times[rank].exchanges, 2 * a_pass);
      }
    }
    EXPECT_GT(ranks.sum_seconds({100, 5}).value(), 0.0);
    EXPECT_GT(ranks.ring_seconds({100, 5}).value(), 0.0);
    EXPECT_TRUE(session->score(std::vector<Token>{1, 600, 5}, TokenTree(5)));
  }
}

TEST(SharedModel, ARankOfAnotherBuildIsRefused) {
  const auto communicators = thread_communicators(2, 20s);
  std::thread rank([&] {
    ThreadPool pool(1);
    (void)follow(*communicators[1], CpuBackend(pool), [] { return Gguf::open(test::stories()); }, nullptr);
  });
  const std::uint64_t model = fingerprint_of(Gguf::open(test::stories()).value());
  MessageWriter load, end;
  load.put(Order::load);
  load.put(LoadOrder{2, Split::rows, model, build_identity() + 1, {}, {}});
  end.put(Order::end);
  ASSERT_TRUE(communicators[0]->broadcast(load.bytes()));
  const auto answers = communicators[0]->gather({}, Patience::endless).value();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(answers[1].data()), answers[1].size()),
            "the program is of another build or byte order");
  EXPECT_TRUE(communicators[0]->broadcast(end.bytes()));
  rank.join();
}

// Ranks that do not take part wait for the leader's next order.
TEST(SharedModel, FewerRanksThanThereAreCanShareOneModelAfterAnother) {
  const auto communicators = thread_communicators(3, 20s);
  std::vector<std::thread> threads;
  for (std::size_t rank = 1; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadPool pool(1);
      const CpuBackend backend(pool);
      while (true) {
        const auto more =
            follow(*communicators[rank], backend, [] { return Gguf::open(test::stories()); }, nullptr);
        if (!more || !*more) return;
      }
    });
  }
  ThreadPool pool(1);
  std::optional<double> best;
  for (const std::size_t ranks : {3, 2, 3, 1}) {
    auto backend =
        std::make_shared<ShardedBackend>(test::cpu_backend(pool), *communicators.front(), Split::rows, ranks);
    Gguf file = Gguf::open(test::stories()).value();
    ASSERT_TRUE(backend->call(file, {}, {}));
    const auto model = Transformer::load(std::move(file), backend).value();
    ASSERT_TRUE(backend->all_loaded());
    const auto session = model->start(0, 1).value();
    ASSERT_TRUE(session->score(std::vector<Token>{1, 600}, TokenTree(600)));
    const double top = session->logits(TokenTree::root).top(1).front().logit;
    EXPECT_NEAR(top, best.value_or(top), 1e-3);
    best = top;
  }
  dismiss(*communicators.front());
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace spectr
