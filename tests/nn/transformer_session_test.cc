#include "spectr/nn/transformer_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/base/check.h"
#include "tests/nn/random_sequences.h"
#include "tests/support/data.h"
#include "tests/support/real_model.h"
#include "tests/support/wrapping_backend.h"

namespace spectr {
namespace {

using namespace test;
using testing::HasSubstr;

// A row's sums have the same order whatever else is in the pass and wherever its ancestors' keys are stored,
// so a node's logits have the bits of a separate pass over its own text.
class TreesOf : public testing::TestWithParam<std::string_view> {};

TEST_P(TreesOf, NodesHaveTheLogitsOfSeparatePasses) {
  if (!find_data(GetParam())) GTEST_SKIP() << "needs the extra data's " << GetParam();
  const RealModel model = RealModel::load_transformer(GetParam());
  ASSERT_TRUE(model->caps().row_invariant);
  for (const auto& [length, nodes] : {std::pair{1, 2}, {5, 9}, {17, 16}, {40, 33}}) {
    const auto seed = static_cast<std::uint32_t>(length);
    const auto text = random_text(static_cast<std::size_t>(length), model->vocabulary(), seed);
    const TokenTree tree = random_tree(text.back(), nodes, model->vocabulary(), seed);
    const auto session = model->start(0, static_cast<std::size_t>(nodes)).value();
    ASSERT_TRUE(session->score(text, tree));
    for (NodeId node = 0; node < tree.size(); ++node) {
      const Row expected = alone(*model, text_at(text, tree, node));
      ASSERT_EQ(largest_difference(row_of(*session, node), expected), 0.0)
          << "node " << node << " of " << nodes << " after " << length << " tokens";
    }
  }
}

std::string test_name(const testing::TestParamInfo<std::string_view>& model) {
  std::string name(model.param);
  std::erase_if(name, [](unsigned char c) { return !std::isalnum(c); });
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Models, TreesOf,
    testing::Values(tiny_target, "models/spectr-stories-draft-0.6m-f16.gguf",
                    "models/spectr-stories-draft-0.6m-q8_0.gguf", "models/spectr-stories-7m-q4_0.gguf",
                    "arch/gpt2-f32.gguf", "arch/gptneox-f32.gguf", "arch/gptneox-serial-f32.gguf",
                    "arch/qwen2-f32.gguf", "arch/qwen3-f32.gguf", "arch/smollm3-f32.gguf",
                    "arch/granite-f32.gguf", "arch/olmo2-f32.gguf", "arch/llama-experts-f32.gguf",
                    "arch/qwen3moe-f32.gguf", "arch/qwen3moe-formats.gguf", "arch/gemma2-f32.gguf",
                    "arch/gemma3-f32.gguf", "arch/llama-formats-grids.gguf", "arch/llama3-ropefreqs-f32.gguf",
                    "arch/llama-linear2-f32.gguf", "arch2/qwen3-yarn/model.gguf", "arch2/mistral3/model.gguf",
                    "arch2/phi3/model.gguf", "arch2/olmo2/model-olmo3.gguf",
                    "arch2/qwen35/model-interval2.gguf", "arch2/qwen35moe/model-interval2.gguf",
                    "arch2/lfm2/model.gguf", "arch2/lfm2moe/model.gguf", "arch2/gemma4/model.gguf",
                    "arch2/gemma4/model-moe.gguf", "arch2/glm4moe/model-mtp.gguf",
                    "arch2/deepseek2/model.gguf", "arch2/opt/post-norm-projected.gguf",
                    "arch2/gpt-oss/model.gguf"),
    test_name);

// Kept paths are moved to the end of the text. The models have ring buffers of slots, sinks, latent keys.
TEST(Trees, HaveTheLogitsOfSeparatePassesWhateverKeysAndValuesAreKeptAs) {
  constexpr KvType f32 = KvType::f32, f16 = KvType::f16, q8 = KvType::q8_0;
  for (const std::string_view file :
       {tiny_target, std::string_view("arch/gemma3-f32.gguf"), std::string_view("arch2/gpt-oss/model.gguf"),
        std::string_view("arch2/deepseek2/model.gguf")}) {
    if (!find_data(file)) continue;
    for (const KvTypes& kv : {KvTypes{f16, f16}, {q8, q8}, {q8, f16}, {f32, q8}}) {
      const RealModel model = RealModel::load_transformer(file, 2, {kv.keys, kv.values});
      auto text = random_text(70, model->vocabulary(), 1);
      const auto session = model->start(0, 12).value();
      for (const std::uint32_t seed : {2u, 3u}) {
        const TokenTree tree = random_tree(text.back(), 12, model->vocabulary(), seed);
        ASSERT_TRUE(session->score(text, tree));
        for (NodeId node = 0; node < tree.size(); ++node) {
          const Row expected = alone(*model, text_at(text, tree, node));
          ASSERT_EQ(largest_difference(row_of(*session, node), expected), 0.0)
              << file << ", node " << node << ", " << name_of(kv.keys) << " and " << name_of(kv.values);
        }
        text = text_at(text, tree, static_cast<NodeId>(tree.size() - 1));
      }
    }
  }
}

class OnTheTinyModel : public testing::Test {
 protected:
  RealModel model_ = RealModel::load(tiny_target);
  std::size_t v_ = model_->vocabulary();
  std::unique_ptr<Session> session_ = model_->start(0, 16).value();

  Row score(const std::vector<Token>& text) {
    EXPECT_TRUE(session_->score(text, TokenTree(text.back())));
    return row_of(*session_, TokenTree::root);
  }
};

TEST_F(OnTheTinyModel, ATextInPiecesIsATextAtOnce) {
  const auto text = random_text(200, v_, 1);  // longer than one pass
  const Row expected = alone(*model_, text);
  for (const std::vector<std::size_t>& cuts :
       {std::vector<std::size_t>{1}, {63, 64, 65}, {64, 128}, {129}, {7, 8, 9, 150, 199}}) {
    session_->rewind(0);
    for (std::size_t cut : cuts) score({text.begin(), text.begin() + static_cast<std::ptrdiff_t>(cut)});
    EXPECT_EQ(score(text), expected);
    EXPECT_EQ(session_->length(), 200u);
  }
}

TEST_F(OnTheTinyModel, KeptPathsBecomeText) {
  auto text = random_text(9, v_, 2);
  for (std::uint32_t block = 0; block < 8; ++block) {
    const TokenTree tree = random_tree(text.back(), 16, v_, block);
    ASSERT_TRUE(session_->score(text, tree));
    // Any node can end the path; node 0 keeps nothing.
    const NodeId end = static_cast<NodeId>((5 * block) % 16);
    session_->keep(tree.path(end));
    text = text_at(text, tree, end);
    EXPECT_EQ(session_->length(), text.size());
    text.push_back(static_cast<Token>(3 + block));  // the correction or bonus
    EXPECT_EQ(score(text), alone(*model_, text)) << "block " << block;
  }
}

TEST_F(OnTheTinyModel, AKeptPathMayEndInNodesThatWereNotScored) {
  const auto text = random_text(6, v_, 3);
  TokenTree tree(text.back());
  const NodeId first = tree.child(TokenTree::root, 10);
  ASSERT_TRUE(session_->score(text, tree));
  const NodeId second = tree.child(first, 11), third = tree.child(second, 12);
  session_->keep(std::vector{first, second, third});
  EXPECT_EQ(session_->length(), 7u);
  const auto longer = text_at(text, tree, third);
  EXPECT_EQ(score(longer), alone(*model_, longer));
}

TEST_F(OnTheTinyModel, AGrownTreeComputesItsNewNodes) {
  const auto text = random_text(6, v_, 4);
  TokenTree tree(text.back());
  NodeId node = TokenTree::root;
  for (Token token = 20; token < 26; ++token) {
    ASSERT_TRUE(session_->score(text, tree));
    tree.child(node, static_cast<Token>(token + 50));  // a sibling between the old nodes and the new chain
    node = tree.child(node, token);
  }
  ASSERT_TRUE(session_->score(text, tree));
  for (NodeId n = 0; n < tree.size(); ++n) {
    EXPECT_EQ(row_of(*session_, n), alone(*model_, text_at(text, tree, n))) << n;
  }
}

TEST_F(OnTheTinyModel, ScoringAgainGivesTheSame) {
  const auto text = random_text(12, v_, 5);
  const Row once = score(text);
  EXPECT_EQ(score(text), once);
  session_->keep({});
  EXPECT_EQ(score(text), once);  // only its keys remain: the last token is computed again
}

TEST_F(OnTheTinyModel, RewindForgetsTheRest) {
  const auto text = random_text(30, v_, 6), other = random_text(30, v_, 7);
  score(text);
  for (std::size_t kept : {29u, 12u, 1u, 0u}) {
    std::vector<Token> mixed(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(kept));
    session_->rewind(kept);
    EXPECT_EQ(session_->length(), kept);
    mixed.insert(mixed.end(), other.begin(), other.end());
    EXPECT_EQ(score(mixed), alone(*model_, mixed)) << kept;
  }
  session_->rewind(1000);  // clamped to the current length
  EXPECT_EQ(session_->length(), 30u);
}

TEST_F(OnTheTinyModel, TheContextIsNeverExceeded) {
  const auto session = model_->start(10, 4).value();
  const auto text = random_text(10, v_, 8);
  const std::vector<Token> nine(text.begin(), text.end() - 1);
  TokenTree tree(nine.back());
  const NodeId child = tree.child(TokenTree::root, 5);
  EXPECT_TRUE(session->score(nine, tree));  // the maximum: 9 + 1 = 10
  EXPECT_EQ(row_of(*session, child), alone(*model_, text_at(nine, tree, child)));
  tree.child(child, 6);
  const auto failed = session->score(nine, tree);
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("11 tokens, but the context holds 10"));
  session->rewind(0);
  EXPECT_TRUE(session->score(text, TokenTree(text.back())));
  const auto longer = random_text(11, v_, 9);
  session->rewind(0);
  EXPECT_FALSE(session->score(longer, TokenTree(longer.back())));
  EXPECT_EQ(session->context(), 10u);

  const auto too_much = model_->start(model_->context() + 1, 1);
  ASSERT_FALSE(too_much);
  EXPECT_THAT(too_much.error().message, HasSubstr(std::to_string(model_->context() + 1)));
  EXPECT_EQ(model_->start(0, 1).value()->context(), model_->context());
}

TEST(LongTexts, AreComputedAsIfTheModelHadBeenTrainedForThem) {
  std::ifstream file(find_data(tiny_target).value(), std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  const auto load = [](const std::string& contents) {
    static ThreadPool pool(1);
    return Transformer::load(Gguf::parse(std::as_bytes(std::span(contents)), "test.gguf").value(),
                             std::make_shared<CpuBackend>(pool))
        .value();
  };
  const auto short_one = load(bytes);
  std::string longer = bytes;
  const std::string key = "llama.context_length";
  longer[longer.find(key) + key.size() + 4 + 1] = 4;  // 1,024 instead of 512, after the value's type
  const auto long_one = load(longer);
  ASSERT_EQ(long_one->context(), 1024u);

  ASSERT_TRUE(short_one->extend_context(700));
  EXPECT_EQ(short_one->context(), 700u);
  EXPECT_EQ(short_one->spec().context, 512u) << "that it was trained for";
  const auto text = random_text(650, short_one->vocabulary(), 3);
  EXPECT_EQ(alone(*short_one, text), alone(*long_one, text));
}

TEST(LongTexts, EndWhereLearnedPositionsDo) {
  const RealModel model = RealModel::load("arch/gpt2-f32.gguf");
  const std::size_t context = model->context();
  EXPECT_TRUE(model.transformer->extend_context(context));
  const auto extended = model.transformer->extend_context(context + 1);
  ASSERT_FALSE(extended);
  EXPECT_THAT(extended.error().message, HasSubstr("exceeds the " + std::to_string(context)));
}

TEST_F(OnTheTinyModel, TokensOutsideTheVocabularyAreErrors) {
  for (Token bad : {-1, static_cast<Token>(v_), 1'000'000}) {
    session_->rewind(0);
    const auto failed = session_->score(std::vector{5, bad, 6}, TokenTree(6));
    ASSERT_FALSE(failed);
    EXPECT_THAT(failed.error().message, HasSubstr("token " + std::to_string(bad)));
  }
  EXPECT_TRUE(session_->score(std::vector{5, 6}, TokenTree(6)));  // the session is still usable
}

TEST_F(OnTheTinyModel, MistakesOfTheCallerAreFoundOut) {
  EXPECT_THROW(std::ignore = session_->score({}, TokenTree(1)), BrokenContract);
  EXPECT_THROW(std::ignore = session_->score(std::vector{5, 6}, TokenTree(7)), BrokenContract);
  TokenTree tree(6);
  for (Token token = 10; token < 30; ++token) tree.child(TokenTree::root, token);
  EXPECT_THROW(std::ignore = session_->score(std::vector{5, 6}, tree), BrokenContract);  // 21 > 16 nodes
  EXPECT_THROW(session_->logits(0), BrokenContract);
  score({5, 6});
  EXPECT_THROW(session_->logits(1), BrokenContract);
}

TEST_F(OnTheTinyModel, DraftsOfALargerVocabularyAreAnError) {
  TokenTree tree(6);
  tree.child(TokenTree::root, static_cast<Token>(v_));
  const auto scored = session_->score(std::vector{5, 6}, tree);
  ASSERT_FALSE(scored.has_value());
  EXPECT_THAT(scored.error().message, testing::HasSubstr("outside the vocabulary of"));
}

TEST(Threads, DoNotChangeABit) {
  // Five threads share the queries of two rows in groups of three, which do not align with key heads.
  for (std::string_view name : {bundled_target, tiny_target}) {
    for (const std::size_t nodes : {2, 13}) {
      std::vector<Row> rows;
      for (int threads : {1, 2, 3, 5}) {
        const RealModel model = RealModel::load(name, threads);
        const auto text = random_text(70, model->vocabulary(), 11);
        const TokenTree tree = random_tree(text.back(), nodes, model->vocabulary(), 12);
        const auto session = model->start(0, nodes).value();
        ASSERT_TRUE(session->score(text, tree));
        session->rewind(text.size() - 1);
        ASSERT_TRUE(session->score(text, tree));  // only the nodes
        Row all;
        for (NodeId node = 0; node < tree.size(); ++node) {
          const Row row = row_of(*session, node);
          all.insert(all.end(), row.begin(), row.end());
        }
        rows.push_back(std::move(all));
      }
      for (const Row& others : rows) EXPECT_EQ(others, rows[0]) << name << ", " << nodes << " nodes";
    }
  }
}

// A text that has grown gets a new tree, even if nothing of the previous one was kept.
TEST_F(OnTheTinyModel, EveryNodeOfAGrownTextsTreeIsChecked) {
  const std::vector<Token> text = random_text(6, v_, 4);
  const auto begin = std::span(text).first(5);
  ASSERT_TRUE(session_->score(begin, random_tree(begin.back(), 4, v_, 1)));
  TokenTree tree(text.back());
  tree.child(TokenTree::root, static_cast<Token>(v_));
  const auto refused = session_->score(text, tree);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("is outside the vocabulary"));
}

TEST(Sessions, OfOneModelKeepTheirTextsApart) {
  const RealModel model = RealModel::load(tiny_target);
  const auto a = random_text(20, model->vocabulary(), 13), b = random_text(25, model->vocabulary(), 14);
  const auto one = model->start(0, 1).value(), two = model->start(0, 1).value();
  for (std::size_t n : {5u, 20u}) {
    ASSERT_TRUE(one->score(std::span(a).first(n), TokenTree(a[n - 1])));
    ASSERT_TRUE(two->score(std::span(b).first(n + 5), TokenTree(b[n + 4])));
  }
  EXPECT_EQ(row_of(*one, 0), alone(*model, a));
  EXPECT_EQ(row_of(*two, 0), alone(*model, b));
}

/// Ops whose passes run out of memory after they have begun, if `fails` is set.
class FailingOps final : public ForwardingOps {
 public:
  FailingOps(std::unique_ptr<Ops> ops, const bool* fails) : ForwardingOps(std::move(ops)), fails_(fails) {}
  void attention(std::size_t layer) override {
    if (*fails_) throw std::bad_alloc();
    ForwardingOps::attention(layer);
  }

 private:
  const bool* fails_;
};

TEST_F(OnTheTinyModel, ATextIsAsItWasAfterAPassThatFailed) {
  bool fails = false;
  ThreadPool pool(1);
  const auto failing = Transformer::load(Gguf::open(*find_data(tiny_target)).value(),
                                         std::make_shared<WrappingBackend<FailingOps, const bool*>>(
                                             std::make_unique<CpuBackend>(pool), &fails))
                           .value();
  const std::vector<Token> text = random_text(9, v_, 1);
  const std::vector<Token> begin(text.begin(), text.begin() + 4);
  const auto session = failing->start(64, 8).value();
  TokenTree tree(begin.back());
  const NodeId far = tree.child(tree.child(TokenTree::root, text[5]), text[4]);
  const NodeId near = tree.child(TokenTree::root, text[4]);
  ASSERT_TRUE(session->score(begin, tree));
  ASSERT_LT(far, near);
  session->keep(
      std::vector<NodeId>{near});  // its keys and values are moved by the next pass, even by one that fails
  fails = true;
  EXPECT_THROW((void)session->score(text, random_tree(text.back(), 8, v_, 2)), std::bad_alloc);
  EXPECT_EQ(session->length(), begin.size() + 1);
  fails = false;
  ASSERT_TRUE(session->score(text, TokenTree(text.back())));
  EXPECT_EQ(row_of(*session, TokenTree::root), alone(*model_, text));
}

}  // namespace
}  // namespace spectr
