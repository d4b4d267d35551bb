// Shortlisted heads and weights of other types on a device, which make draft models smaller.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/device/device_backend.h"
#include "spectr/backend/device/extra_head_rows.h"
#include "spectr/backend/reference/reference_backend.h"
#include "tests/nn/random_sequences.h"
#include "tests/support/data.h"
#include "tests/support/devices/device_numbers.h"
#include "tests/support/random_tensor.h"
#include "tests/support/real_model.h"
#include "tests/twins/twin_device.h"

namespace spectr {
namespace {

using namespace test;

constexpr float nothing = -std::numeric_limits<float>::infinity();

/// A head tied to the embedding, one with its own matrix and biases, and one with capped logits.
const std::string float_files[] = {"models/stories260K-f32.gguf", "arch/gptneox-f32.gguf",
                                   "arch/gemma2-f32.gguf"};
const std::string quantized_files[] = {std::string(bundled_draft), "arch/llama-formats-32.gguf"};

std::unique_ptr<Transformer> load(const std::string& name, const Slimming& slimming,
                                  std::shared_ptr<const Backend> backend) {
  static ThreadPool pool(1);
  return Transformer::load(Gguf::open(find_data(name).value()).value(), std::move(backend),
                           {.slimming = slimming, .pool = &pool})
      .value();
}

std::unique_ptr<Transformer> on_twins(const std::string& name, const Slimming& slimming = {}) {
  return load(name, slimming, std::make_shared<DeviceBackend>(std::make_shared<TwinDevice>()));
}

/// Returns every third token.
std::vector<Token> thirds(std::size_t vocabulary) {
  std::vector<Token> tokens;
  for (std::size_t token = 0; token < vocabulary; token += 3) tokens.push_back(static_cast<Token>(token));
  return tokens;
}

// If weights are floats, the sequence's own tokens also have the bits of the full head.
TEST(DeviceShortlist, HasTheLogitsOfItsTokensAndOfTheSequencesOwn) {
  const auto expect_of = [](const std::string& file, bool is_float) {
    const auto whole = on_twins(file);
    const std::size_t v = whole->vocabulary();
    const auto slim = on_twins(file, {.shortlist = thirds(v)});
    const std::vector<Token> text = random_text(12, v, 5);
    const Row expected = alone(*whole, text), found = alone(*slim, text);
    float size = 0;
    for (const float logit : expected) size = std::max(size, std::abs(logit));
    ASSERT_EQ(found.size(), v);
    for (std::size_t i = 0; i < v; ++i) {
      const bool own = std::ranges::find(text, static_cast<Token>(i)) != text.end();
      if (i % 3 == 0 || (own && is_float)) {
        EXPECT_EQ(found[i], expected[i]) << file << ", token " << i;
      } else if (own) {  // neither their weights nor the activations are rounded
        EXPECT_NEAR(found[i], expected[i], 0.03f * size) << file << ", token " << i;
      } else {
        EXPECT_EQ(found[i], nothing) << file << ", token " << i;
      }
    }
  };
  for (const std::string& file : float_files) expect_of(file, true);
  for (const std::string& file : quantized_files) expect_of(file, false);
}

TEST(DeviceShortlist, IsNearTheReference) {
  for (const std::string& file : float_files) {
    const Slimming how{.shortlist = {2, 3, 5, 7, 11, 13}};
    const std::vector<Token> text = random_text(9, 32, 6);
    const Row expected = alone(*load(file, how, std::make_shared<ReferenceBackend>()), text);
    const Row found = alone(*on_twins(file, how), text);
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
TEST(DeviceShortlist, ForgetsTokensOfARewoundText) {
  const auto slim = on_twins(float_files[0], {.shortlist = thirds(512)});
  const auto session = slim->start(0, 6).value();
  const std::vector<Token> text = random_text(30, 512, 7), other = random_text(30, 512, 8);
  ASSERT_TRUE(session->score(text, TokenTree(text.back())));
  std::vector<Token> mixed(text.begin(), text.begin() + 10);
  mixed.insert(mixed.end(), other.begin(), other.begin() + 10);
  session->rewind(10);
  TokenTree tree(mixed.back());
  const NodeId child = tree.child(TokenTree::root, 4);
  ASSERT_TRUE(session->score(mixed, tree));
  EXPECT_EQ(row_of(*session, TokenTree::root), alone(*slim, mixed));
  EXPECT_EQ(row_of(*session, child)[4], nothing);
  session->keep(tree.path(child));
  mixed.push_back(4);
  ASSERT_TRUE(session->score(mixed, TokenTree(4)));
  EXPECT_EQ(row_of(*session, TokenTree::root), alone(*slim, mixed));
  EXPECT_GT(row_of(*session, TokenTree::root)[4], nothing);
}

// Long sequences have more own tokens than the initial capacity, and alternating sequences more than the
// maximum; at the end, all are in one pass.
TEST(DeviceShortlist, IsRightForTextsThatTakeTurnsAndPassesOfSeveral) {
  const auto slim = on_twins(float_files[0], {.shortlist = {0, 1, 2, 3, 4, 5, 6, 7}});
  const std::size_t lengths[] = {8, 45, 90};
  std::vector<std::vector<Token>> texts;
  std::vector<Row> expected;
  std::vector<std::unique_ptr<Session>> sessions;
  for (std::uint32_t i = 0; i < 3; ++i) {
    texts.push_back(random_text(lengths[i], 512, i));
    expected.push_back(alone(*on_twins(float_files[0], {.shortlist = {0, 1, 2, 3, 4, 5, 6, 7}}), texts[i]));
    sessions.push_back(slim->start(0, 1).value());
  }
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      ASSERT_TRUE(sessions[i]->score(texts[i], TokenTree(texts[i].back())));
      EXPECT_EQ(row_of(*sessions[i], 0), expected[i]) << i;
      sessions[i]->rewind(texts[i].size() - 1);
    }
  }
  std::vector<TokenTree> trees;
  for (const auto& text : texts) trees.emplace_back(text.back());
  std::vector<Scoring> scorings;
  for (std::size_t i = 0; i < texts.size(); ++i)
    scorings.push_back({.session = sessions[i].get(), .text = texts[i], .tree = &trees[i]});
  while (!std::ranges::all_of(scorings, &Scoring::is_over)) slim->score_together(scorings);
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(row_of(*sessions[i], 0), expected[i]) << i;
}

// For any amount of memory, every sequence that gets logits gets the right ones.
TEST(DeviceShortlist, SpoilsNoTextWhereMemoryEnds) {
  const Slimming how{.shortlist = {0, 1, 2, 3, 4, 5, 6, 7}};
  const std::vector<Token> text = random_text(100, 512, 1), shorter = random_text(20, 512, 2);
  const Row expected = alone(*on_twins(float_files[0], how), shorter);
  std::size_t complete = 0, failed = 0;
  for (std::size_t bytes = 900'000; bytes < 2'400'000; bytes += 150'000) {
    const auto backend = std::make_shared<DeviceBackend>(std::make_shared<TwinDevice>(bytes));
    static ThreadPool pool(1);
    const auto model = Transformer::load(Gguf::open(find_data(float_files[0]).value()).value(), backend,
                                         {.slimming = how, .pool = &pool});
    if (!model) continue;
    const auto one = (*model)->start(0, 1), two = (*model)->start(0, 1);
    if (!one || !two) continue;
    for (const auto& [session, of] : {std::pair{&*one, &text}, {&*two, &shorter}}) {
      try {
        const bool scored = static_cast<bool>((*session)->score(*of, TokenTree(of->back())));
        (scored ? complete : failed) += 1;
        if (scored && of == &shorter) {
          EXPECT_EQ(row_of(**session, 0), expected) << bytes;
        }
      } catch (const std::bad_alloc&) {
        ++failed;
      }
    }
  }
  EXPECT_GT(complete, 5u);
  EXPECT_GT(failed, 2u);
}

TEST(DeviceExtraHeadRows, AreSentOnceAndForgottenWhereRoomEnds) {
  constexpr std::size_t width = 6;
  ModelSpec spec;
  spec.vocabulary = 1000;
  spec.head.output.in = width;
  spec.head.shortlist = {0};
  TwinDevice device;
  ExtraHeadRows rows(spec, device);
  const auto words = [&](Token first, std::size_t count) {
    ExtraTokens own;
    for (std::size_t i = 0; i < count; ++i) own.tokens.push_back(first + static_cast<Token>(i));
    own.rows = random_floats(count * width, static_cast<std::uint32_t>(first));
    own.biases = random_floats(count, static_cast<std::uint32_t>(first) + 1);
    return own;
  };
  const auto take = [&](std::vector<const ExtraTokens*> all) {
    PassBatch batch;
    batch.extra_tokens = std::move(all);
    rows.take(batch);
    for (const ExtraTokens* own : batch.extra_tokens) {
      for (std::size_t i = 0; i < own->tokens.size(); ++i) {
        const call::Rows there = rows.rows();
        std::vector<float> found(width + 1);
        const auto place = static_cast<std::size_t>(rows.place(own->tokens[i]));
        ASSERT_TRUE(device.download(std::as_writable_bytes(std::span(found)),
                                    there.at.behind(place * there.stride * sizeof(float))));
        EXPECT_EQ(found.back(), own->biases[i]);
        found.pop_back();
        EXPECT_TRUE(std::ranges::equal(found, std::span(own->rows).subspan(i * width, width)));
      }
    }
  };
  const ExtraTokens few = words(1, 20), more = words(100, 30), many = words(200, 30), most = words(300, 100);
  take({&few, &few, &more});
  const int place = rows.place(few.tokens[3]);
  take({&few});
  EXPECT_EQ(rows.place(few.tokens[3]), place);
  EXPECT_GE(rows.place(more.tokens[0]), 0);
  const std::size_t moved = rows.times_moved();
  take({&many});  // 64 rows have no room for it next to the others, but alone
  EXPECT_EQ(rows.place(few.tokens[3]), -1);
  EXPECT_EQ(rows.times_moved(), moved);
  take({&many, &most});
  EXPECT_GT(rows.times_moved(), moved);
  take({&few, &more});
  EXPECT_GE(rows.place(most.tokens[0]), 0);
  EXPECT_TRUE(rows.state());
}

TEST(SlimDrafts, OnADeviceHaveTheTypeThatIsAskedFor) {
  const std::string file = "models/spectr-stories-draft-0.3m-f16.gguf";
  ThreadPool pool(1);
  for (const TensorType type : {TensorType::f32, TensorType::q8_0, TensorType::q4_0}) {
    for (const std::vector<Token>& shortlist : {std::vector<Token>(), thirds(2048)}) {
      const Slimming how{.type = type, .shortlist = shortlist};
      const auto there = on_twins(file, how), here = load(file, how, std::make_shared<CpuBackend>(pool));
      for_each_linear(there->spec(), [&](const LinearSpec& linear, double) {
        EXPECT_EQ(there->spec().weight(linear.weight).type, type);
      });
      const std::vector<Token> text = random_text(12, here->vocabulary(), 3);
      const Row expected = alone(*here, text), found = alone(*there, text);
      double off = 0, size = 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        if (found[i] == expected[i]) continue;  // for example, both are −∞
        off += (found[i] - expected[i]) * (found[i] - expected[i]);
        size += expected[i] * expected[i];
      }
      EXPECT_LE(std::sqrt(off), (type == TensorType::f32 ? 1e-3 : 0.02) * std::sqrt(size))
          << format_of(type).name << " with " << shortlist.size() << " tokens";
    }
  }
}

TEST(SlimDrafts, OnADeviceWriteTheTextOfTheProcessor) {
  ThreadPool pool(1);
  const std::string& file = float_files[0];
  const Slimming how{.shortlist = thirds(512)};
  const auto there = on_twins(file, how), here = load(file, how, std::make_shared<CpuBackend>(pool));
  std::vector<Token> text = random_text(6, 512, 1);
  const auto draft = there->start(0, 1).value(), expected = here->start(0, 1).value();
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(draft->score(text, TokenTree(text.back())));
    ASSERT_TRUE(expected->score(text, TokenTree(text.back())));
    const auto best = expected->logits(TokenTree::root).top(5), found = draft->logits(TokenTree::root).top(5);
    ASSERT_EQ(found.size(), best.size());
    ASSERT_EQ(found.front().token, best.front().token) << "after " << i;
    text.push_back(best.front().token);
  }
}

}  // namespace
}  // namespace spectr
