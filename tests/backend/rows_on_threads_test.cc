// Rows that threads share: each is processed once, and has the same bits for any number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/cpu/for_each_row.h"
#include "spectr/nn/arch/architectures.h"
#include "tests/nn/random_sequences.h"
#include "tests/support/models/model_course.h"
#include "tests/support/value_of.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;
using test::value_of;

TEST(Rows, AreProcessedOnce) {
  constexpr std::size_t counts[] = {0, 1, 2, 15, 16, 33, 257};
  constexpr std::size_t sizes[] = {1, 63, 1031, numbers_per_thread - 1, numbers_per_thread, 100'000};
  for (const int threads : {1, 2, 3, 5}) {
    ThreadPool pool(threads);
    for (const std::size_t rows : counts) {
      for (const std::size_t cols : sizes) {
        std::vector<std::atomic<int>> times(rows);
        for_each_row(rows, cols, pool, [&times](std::size_t row) { ++times[row]; });
        EXPECT_TRUE(std::ranges::all_of(times, [](const std::atomic<int>& n) { return n == 1; }))
            << rows << " rows of " << cols << " numbers, " << threads << " threads";
      }
    }
  }
}

TEST(Rows, AreSharedIfTheyAreLarge) {
  ThreadPool pool(2);
  std::latch both(2);  // neither row ends before the other has begun
  for_each_row(2, numbers_per_thread, pool, [&both](std::size_t) { both.arrive_and_wait(); });
  EXPECT_TRUE(both.try_wait());
}

TEST(Rows, StayOnOneThreadIfTheyAreSmall) {
  ThreadPool pool(2);
  std::vector<std::thread::id> ids(16);
  for_each_row(ids.size(), numbers_per_thread / ids.size(), pool,
               [&ids](std::size_t row) { ids[row] = std::this_thread::get_id(); });
  EXPECT_EQ(ids, std::vector(ids.size(), std::this_thread::get_id()));
}

class RowsOnThreads : public testing::TestWithParam<fs::path> {
 protected:
  /// Scores several sequences with trees in one pass, which has enough rows to be shared by threads. Returns
  /// the logits of all nodes.
  static std::vector<Row> logits(int threads) {
    constexpr std::size_t count = 9;
    ThreadPool pool(threads);
    const auto model =
        value_of(Transformer::load(value_of(Gguf::open(GetParam())), std::make_shared<CpuBackend>(pool), {}));
    std::vector<std::vector<Token>> sequences;
    std::vector<TokenTree> trees;
    std::vector<std::unique_ptr<Session>> sessions;
    for (std::uint32_t i = 0; i < count; ++i) {
      sequences.push_back(random_text(61, model->vocabulary(), i));
      trees.push_back(random_tree(sequences[i].back(), 5, model->vocabulary(), i));
      sessions.push_back(value_of(model->start(0, 5)));
    }
    std::vector<Scoring> scorings;
    for (std::size_t i = 0; i < count; ++i)
      scorings.push_back({.session = sessions[i].get(), .text = sequences[i], .tree = &trees[i]});
    const std::size_t width = value_of(read_model_spec(value_of(Gguf::open(GetParam())))).width;
    EXPECT_GT(model->score_together(scorings) * width, 2 * numbers_per_thread) << "too few to be shared";
    std::vector<Row> rows;
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_TRUE(scorings[i].complete);
      for (NodeId node = 0; node < trees[i].size(); ++node) rows.push_back(row_of(*sessions[i], node));
    }
    return rows;
  }
};

TEST_P(RowsOnThreads, HaveTheSameBits) {
  const std::vector<Row> expected = logits(1);
  for (const int threads : {2, 3}) EXPECT_EQ(logits(threads), expected) << threads << " threads";
}

INSTANTIATE_TEST_SUITE_P(Models, RowsOnThreads, testing::ValuesIn(test::course_models()),
                         [](const auto& file) { return test::test_name_of(file.param); });

}  // namespace
}  // namespace spectr
