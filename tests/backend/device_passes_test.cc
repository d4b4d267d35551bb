// Whole passes of models on a device whose kernels are their twins: near the references, the same bits in any
// company, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/device/device_backend.h"
#include "spectr/backend/device/twin_device.h"
#include "spectr/backend/reference/reference_backend.h"
#include "spectr/decode/decoder_distribution.h"
#include "spectr/decode/methods.h"
#include "spectr/nn/arch/architectures.h"
#include "tests/nn/random_sequences.h"
#include "tests/support/data.h"
#include "tests/support/memoising_model.h"
#include "tests/support/model_course.h"
#include "tests/support/real_model.h"
#include "tests/support/tabular_pair.h"
#include "tests/support/value_of.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;
using namespace test;
using testing::HasSubstr;

constexpr KvType f32 = KvType::f32, f16 = KvType::f16, q8 = KvType::q8_0;

Result<std::unique_ptr<Transformer>> load(const fs::path& file, std::shared_ptr<const Backend> backend,
                                          const KvChoice& kv = {}, const Slimming& slimming = {}) {
  return Transformer::load(Gguf::open(file).value(), std::move(backend), {.kv = kv, .slimming = slimming});
}

/// A model on the twins.
struct OnTwins {
  std::shared_ptr<TwinDevice> device;
  std::unique_ptr<Transformer> model;

  explicit OnTwins(const fs::path& file, const KvChoice& kv = {})
      : device(std::make_shared<TwinDevice>()),
        model(load(file, std::make_shared<DeviceBackend>(device), kv).value()) {}
};

class DevicePasses : public testing::TestWithParam<fs::path> {};

TEST_P(DevicePasses, AreNearTheReferenceOrAreRefusedByName) {
  const ModelSpec spec = read_model_spec(Gguf::open(GetParam()).value()).value();
  const bool is_f32 = default_kv(spec).keys == f32;
  // Where a router is undecided rounding chooses another expert, and this one's is of random numbers.
  const Slimming slimming = spec.architecture == "gpt-oss" ? Slimming{.type = TensorType::f32} : Slimming();
  const auto device = std::make_shared<TwinDevice>();
  const auto backend = std::make_shared<DeviceBackend>(device);
  for (const KvType kv : {f32, f16, q8}) {
    const auto model = load(GetParam(), backend, {kv, kv}, slimming);
    if (!check(spec, {kv, kv}, device->caps())) {
      ASSERT_FALSE(model);
      EXPECT_THAT(model.error().message, HasSubstr("are not supported by the backend twins"));
      continue;
    }
    ASSERT_TRUE(model) << model.error().message;
    const auto found = course(**model);
    if (is_f32) {
      const auto reference = std::make_shared<ReferenceBackend>(ReferenceBackend::Precision::f64);
      const auto expected = course(*load(GetParam(), reference, {kv, kv}, slimming).value());
      // Keys and values that differ by a unit of F32 become neighbours as F16, or as Q8_0.
      EXPECT_LE(largest_distance(found, expected), kv == f32 ? 1e-4 : kv == f16 ? 6e-3 : 3e-2) << name_of(kv);
    } else {
      ThreadPool pool(1);
      const auto expected = course(*load(GetParam(), std::make_shared<CpuBackend>(pool), {kv, kv}).value());
      EXPECT_LE(largest_distance(found, expected), 0.02);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, DevicePasses, testing::ValuesIn(course_models()),
                         [](const auto& file) { return test_name_of(file.param); });

std::vector<fs::path> models_of_all_kinds() {
  std::vector<fs::path> files;
  for (const char* name :
       {"arch/llama-f32.gguf", "arch/llama-formats-32.gguf", "arch/llama-formats-256.gguf",
        "arch/qwen3-f32.gguf", "arch/gemma2-f32.gguf", "arch/gemma3-f32.gguf", "arch2/mistral3/model.gguf",
        "arch2/qwen35/model-interval2.gguf", "arch2/lfm2/model.gguf", "arch/qwen3moe-formats.gguf",
        "arch2/gemma4/model.gguf", "arch2/deepseek2/model.gguf"})
    files.push_back(source_folder() / "tests/data" / name);
  files.push_back(*find_data(bundled_draft));
  return files;
}

class DeviceRows : public testing::TestWithParam<fs::path> {};

TEST_P(DeviceRows, HaveTheSameBitsAsNodesAndAsTextAndAfterKeeping) {
  const OnTwins on(GetParam());
  ASSERT_TRUE(on.model->caps().row_invariant);
  const std::size_t vocabulary = on.model->vocabulary();
  for (const auto& [length, nodes] : {std::pair{1, 2}, {17, 9}, {70, 12}, {130, 20}}) {
    const auto seed = static_cast<std::uint32_t>(length);
    std::vector<Token> text = random_text(static_cast<std::size_t>(length), vocabulary, seed);
    const auto session = on.model->start(0, static_cast<std::size_t>(nodes)).value();
    for (std::uint32_t block = 0; block < 2; ++block) {
      const TokenTree tree = random_tree(text.back(), nodes, vocabulary, seed + block);
      ASSERT_TRUE(session->score(text, tree));
      for (NodeId node = 0; node < tree.size(); node += 3) {
        ASSERT_EQ(row_of(*session, node), alone(*on.model, text_at(text, tree, node)))
            << "node " << node << " after " << text.size() << " tokens";
      }
      const RecycledVector<NodeId> path = tree.path(tree.size() - 1);
      session->keep(path);
      for (const NodeId node : path) text.push_back(tree.token(node));
      text.push_back(5);
    }
  }
}

TEST_P(DeviceRows, HaveTheSameBitsInTheCompanyOfOtherTexts) {
  const OnTwins on(GetParam());
  const std::size_t vocabulary = on.model->vocabulary();
  std::vector<std::vector<Token>> texts;
  std::vector<TokenTree> trees;
  std::vector<std::unique_ptr<Session>> sessions;
  for (std::uint32_t i = 0; i < 3; ++i) {
    texts.push_back(random_text(10 + 40 * i, vocabulary, i));
    trees.push_back(random_tree(texts[i].back(), 5, vocabulary, i));
    sessions.push_back(on.model->start(0, 5).value());
  }
  std::vector<Scoring> scorings;
  for (std::size_t i = 0; i < texts.size(); ++i)
    scorings.push_back({.session = sessions[i].get(), .text = texts[i], .tree = &trees[i]});
  while (!std::ranges::all_of(scorings, &Scoring::is_over)) on.model->score_together(scorings);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ASSERT_TRUE(scorings[i].result) << scorings[i].result.error().message;
    for (NodeId node = 0; node < trees[i].size(); ++node)
      EXPECT_EQ(row_of(*sessions[i], node), alone(*on.model, text_at(texts[i], trees[i], node)));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, DeviceRows, testing::ValuesIn(models_of_all_kinds()),
                         [](const auto& file) { return test_name_of(file.param); });

TEST(DevicePass, WritesTheTextOfTheProcessorWhereThatIsClear) {
  ThreadPool pool(1);
  for (const std::string_view name :
       {bundled_draft, std::string_view("models/spectr-stories-7m-q4_0.gguf")}) {
    const OnTwins on(*find_data(name));
    const auto expected = load(*find_data(name), std::make_shared<CpuBackend>(pool)).value();
    const auto here = on.model->start(0, 1).value(), there = expected->start(0, 1).value();
    std::vector<Token> text = random_text(4, on.model->vocabulary(), 1);
    for (int i = 0; i < 24; ++i) {
      ASSERT_TRUE(here->score(text, TokenTree(text.back())));
      ASSERT_TRUE(there->score(text, TokenTree(text.back())));
      const auto best = there->logits(TokenTree::root).top(2);
      if (best[0].logit - best[1].logit > 0.01) {
        EXPECT_EQ(here->logits(TokenTree::root).top(1)[0].token, best[0].token) << name << " after " << i;
      }
      text.push_back(best[0].token);
    }
  }
}

TEST(DevicePass, IsRecordedOnceForEachShape) {
  const OnTwins on(*find_data(bundled_draft));
  const auto session = on.model->start(0, 4).value();
  std::vector<Token> text = random_text(5, on.model->vocabulary(), 1);
  ASSERT_TRUE(session->score(text, TokenTree(text.back())));
  for (int i = 0; i < 2; ++i) {  // both memories for logits, with room for as many rows as there will be
    text.push_back(7);
    ASSERT_TRUE(session->score(text, random_tree(text.back(), 4, on.model->vocabulary(), 1)));
    session->keep({});
  }
  const int recorded = on.device->recorded();
  for (int i = 0; i < 12; ++i) {
    text.push_back(7);
    ASSERT_TRUE(session->score(text, random_tree(text.back(), 4, on.model->vocabulary(), 1)));
    session->keep({});
  }
  EXPECT_EQ(on.device->recorded(), recorded);
}

TEST(DevicePass, LeavesTheTargetsDistributionToADecoder) {
  const OnTwins target(source_folder() / "tests/data/arch/llama-f32.gguf"),
      draft(source_folder() / "tests/data/arch/qwen2-f32.gguf");
  WarpOptions warp = WarpOptions::none();
  warp.top_k = 2;
  const MethodOptions options = options_of(2, 2);
  const MemoisingModel target_rows(*target.model), draft_rows(*draft.model);
  const LanguageModel* const drafts[] = {&draft_rows};
  Models models = value_of(Models::start(target_rows, drafts, Warp::make(warp).value(), 16, 8));
  const Token prompt[] = {5, 9};
  // What is drawn from is two tokens, not all: the estimate beforehand does not know.
  const EnumerationOptions enumeration{.horizon = 3, .markov = false, .max_outcomes = 1e14};
  Decoder decoder = decoder_of("spectr", options);
  const DecoderDistribution exact = value_of(enumerate_decoder(decoder, models, prompt, enumeration));
  const auto expected = value_of(enumerate_target(models, prompt, enumeration));
  EXPECT_EQ(expected.size(), 8u);
  EXPECT_LE(total_variation(exact.distribution, expected), 1e-12);
}

TEST(DeviceMemory, TooSmallForTheWeightsIsSaidBeforeTheyAreLoaded) {
  const auto device = std::make_shared<TwinDevice>(300'000);
  const auto model = load(*find_data(bundled_draft), std::make_shared<DeviceBackend>(device));
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message,
              testing::MatchesRegex("twins \\(plain loops on the processor\\): .*0.6m-q8_0.gguf takes "
                                    "0.00[0-9]* GB on the device, of which 0.0003 GB are free; --device none "
                                    "computes on the CPU"));
  EXPECT_EQ(device->info().free_bytes, 300'000u);
}

TEST(DeviceMemory, TooSmallForATextEndsThatTextAlone) {
  const fs::path file = source_folder() / "tests/data/arch/llama-f32.gguf";
  const auto device = std::make_shared<TwinDevice>(700'000);
  const auto model = load(file, std::make_shared<DeviceBackend>(device)).value();
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<Token> text = random_text(200, model->vocabulary(), 1);
  const auto first = model->start(0, 1).value();
  ASSERT_TRUE(first->score(text, TokenTree(text.back())));
  bool failed = false;
  for (int i = 0; i < 100 && !failed; ++i) {
    auto session = model->start(0, 1);
    if (!session) break;
    try {
      if (!(*session)->score(text, TokenTree(text.back()))) failed = true;
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    sessions.push_back(std::move(*session));
  }
  EXPECT_TRUE(failed);
  text.push_back(5);
  ASSERT_TRUE(first->score(text, TokenTree(text.back())));
  const Row here = row_of(*first, TokenTree::root);
  sessions.clear();
  EXPECT_EQ(here, alone(*model, text));
}

/// However much there is, whoever gets logits gets the right ones, also behind passes that found no memory.
void expect_right_texts(const fs::path& file, std::size_t least, std::size_t most) {
  const OnTwins roomy(file);
  const std::size_t vocabulary = roomy.model->vocabulary();
  std::size_t complete = 0, failed = 0;
  for (std::size_t bytes = least; bytes < most; bytes += (most - least) / 16) {
    const auto device = std::make_shared<TwinDevice>(bytes);
    const auto model = load(file, std::make_shared<DeviceBackend>(device));
    if (!model) continue;
    std::vector<std::unique_ptr<Session>> sessions;
    std::vector<std::vector<Token>> texts;
    for (std::uint32_t i = 0; i < 2; ++i) {
      auto session = (*model)->start(0, 1);
      if (!session) break;
      sessions.push_back(std::move(*session));
      texts.push_back(random_text(3, vocabulary, i));
    }
    for (std::uint32_t round = 0; round < 4 && sessions.size() == 2; ++round) {
      std::vector<TokenTree> trees(texts.size(), TokenTree(0));
      std::vector<Scoring> scorings;
      for (std::size_t i = 0; i < texts.size(); ++i) {
        for (const Token token : random_text(round == 0 ? 1 : 63, vocabulary, round))
          texts[i].push_back(token);
        trees[i] = TokenTree(texts[i].back());
        scorings.push_back({.session = sessions[i].get(), .text = texts[i], .tree = &trees[i]});
      }
      while (!std::ranges::all_of(scorings, &Scoring::is_over)) (*model)->score_together(scorings);
      for (std::size_t i = 0; i < texts.size(); ++i) {
        const bool scored = scorings[i].failure == nullptr && scorings[i].result;
        (scored ? complete : failed) += 1;
        if (scored) {
          ASSERT_EQ(row_of(*sessions[i], TokenTree::root), alone(*roomy.model, texts[i])) << bytes;
        }
      }
    }
  }
  EXPECT_GT(complete, 10u);
  EXPECT_GT(failed, 10u);
}

TEST(DeviceMemory, ThatEndsAnywhereSpoilsNoText) {
  expect_right_texts(source_folder() / "tests/data/arch/llama-f32.gguf", 300'000, 1'100'000);
}

TEST(DeviceMemory, ThatEndsAnywhereSpoilsNoState) {
  expect_right_texts(source_folder() / "tests/data/arch2/qwen35/model-interval2.gguf", 3'000'000, 3'800'000);
}

TEST(DeviceMemory, TooSmallForACopyLeavesNoText) {
  const auto device = std::make_shared<TwinDevice>(700'000);
  const auto model =
      load(source_folder() / "tests/data/arch/llama-f32.gguf", std::make_shared<DeviceBackend>(device))
          .value();
  std::vector<Token> text = random_text(200, model->vocabulary(), 1);
  const auto source = model->start(0, 1).value();
  ASSERT_TRUE(source->score(text, TokenTree(text.back())));
  std::vector<std::unique_ptr<Session>> copies;
  bool failed = false;
  while (!failed) {
    copies.push_back(model->start(0, 1).value());
    try {
      copies.back()->copy(*source, 199);
      EXPECT_EQ(copies.back()->length(), 199u);
    } catch (const std::bad_alloc&) {
      EXPECT_EQ(copies.back()->length(), 0u);
      failed = true;
    }
  }
  text.push_back(5);
  ASSERT_TRUE(source->score(text, TokenTree(text.back())));
  const Row here = row_of(*source, TokenTree::root);
  copies.clear();
  EXPECT_EQ(here, alone(*model, text));
}

TEST(DeviceMemory, GoesBackToTheDevice) {
  const auto device = std::make_shared<TwinDevice>();
  {
    const auto model = load(*find_data(bundled_draft), std::make_shared<DeviceBackend>(device)).value();
    const auto session = model->start(0, 1).value();
    const std::vector<Token> text = random_text(5, model->vocabulary(), 1);
    ASSERT_TRUE(session->score(text, TokenTree(text.back())));
    EXPECT_LT(device->info().free_bytes, device->info().bytes);
  }
  EXPECT_EQ(device->info().free_bytes, device->info().bytes);
}

TEST(LostDevice, IsSaidByPassesAndGivesNoDistribution) {
  const OnTwins on(*find_data(bundled_draft));
  EXPECT_TRUE(on.model->check_alive());
  const auto session = on.model->start(0, 1).value();
  std::vector<Token> text = random_text(5, on.model->vocabulary(), 1);
  ASSERT_TRUE(session->score(text, TokenTree(text.back())));
  on.device->lose();
  EXPECT_EQ(on.model->check_alive().error().message, "twins: the device was lost during a pass");
  const Logits before = session->logits(TokenTree::root);
  EXPECT_TRUE(std::isnan(before.at(0)));
  EXPECT_TRUE(std::isnan(before.top(3).front().logit));
  EXPECT_TRUE(std::isnan(before.log_sum_exp()));
  text.push_back(5);
  const auto scored = session->score(text, TokenTree(text.back()));
  ASSERT_FALSE(scored);
  EXPECT_EQ(scored.error().message, "twins: the device was lost during a pass");
}

}  // namespace
}  // namespace spectr
