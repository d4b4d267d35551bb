// A session that copies its prefix from another session computes the same bits as one that reads the whole
// sequence. Tested for every architecture, all types of keys and values, and all backends.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/device/device_backend.h"
#include "spectr/backend/reference/reference_backend.h"
#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/kv_slots.h"
#include "tests/nn/random_sequences.h"
#include "tests/support/data.h"
#include "tests/support/models/model_course.h"
#include "tests/twins/twin_device.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;

constexpr NodeId nodes = 9;
constexpr KvTypes f32{KvType::f32, KvType::f32}, f16{KvType::f16, KvType::f16},
    q8_0{KvType::q8_0, KvType::q8_0};

std::vector<Row> rows_of(Session& session, const std::vector<Token>& text, const TokenTree& tree) {
  EXPECT_TRUE(session.score(text, tree));
  std::vector<Row> rows;
  for (NodeId node = 0; node < tree.size(); ++node) rows.push_back(row_of(session, node));
  return rows;
}

class CopiedSessions : public testing::TestWithParam<fs::path> {
 protected:
  static std::unique_ptr<Transformer> load(std::shared_ptr<const Backend> backend, const KvTypes& kv) {
    return Transformer::load(Gguf::open(GetParam()).value(), std::move(backend), {.kv = {kv.keys, kv.values}})
        .value();
  }

  /// The ways in which a session takes over the prefix of another session.
  enum class How { copied, saved };
  static void take_over(Session& session, const Session& from, std::size_t length, How how) {
    if (how == How::copied) return session.copy(from, length);
    const auto saved = from.save(length);
    ASSERT_TRUE(saved);
    ASSERT_EQ(session.restorable(*saved, length), length);
    ASSERT_TRUE(session.restore(*saved, length));
    if (!saved->blocks.empty() && length >= saved->block_tokens) {
      EXPECT_EQ(session.save(length)->blocks.front(), saved->blocks.front()) << "full blocks are shared";
    }
  }

  /// One session reads `length` tokens and continues by blocks; others start from prefixes of its sequence.
  static void expect_bits(const Transformer& model, std::size_t length, How how = How::copied) {
    const std::size_t v = model.vocabulary();
    std::vector<Token> text = random_text(length, v, 1);
    const auto source = model.start(0, nodes).value();
    for (std::uint32_t block = 0; block < 4; ++block) {
      const TokenTree tree = random_tree(text.back(), nodes, v, block);
      ASSERT_TRUE(source->score(text, tree));
      const NodeId end = nodes - 1 - static_cast<NodeId>(block);
      source->keep(tree.path(end));  // its slots have not been moved yet
      text = text_at(text, tree, end);
      for (const std::size_t wanted : {text.size(), length, length - 1, length / 2, std::size_t{1}}) {
        const std::size_t given = source->copyable(wanted);
        EXPECT_LE(given, wanted);
        std::vector<Token> own(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(given));
        for (const Token token : random_text(19, v, block + 7)) own.push_back(token);
        const TokenTree own_tree = random_tree(own.back(), nodes, v, 5);

        const auto copy = model.start(0, nodes).value(), fresh = model.start(0, nodes).value();
        take_over(*copy, *source, given, how);
        ASSERT_EQ(copy->length(), given);
        ASSERT_EQ(rows_of(*copy, own, own_tree), rows_of(*fresh, own, own_tree))
            << given << " of " << text.size() << " tokens";
        copy->keep({});
        copy->rewind(given / 2);
        own.resize(given / 2 + 3, own.front());
        fresh->rewind(0);
        ASSERT_EQ(rows_of(*copy, own, TokenTree(own.back())), rows_of(*fresh, own, TokenTree(own.back())));
      }
      text.push_back(static_cast<Token>(3 + block));
    }
    // The session that was copied from continues unchanged.
    const TokenTree tree = random_tree(text.back(), nodes, v, 9);
    const auto fresh = model.start(0, nodes).value();
    EXPECT_EQ(rows_of(*source, text, tree), rows_of(*fresh, text, tree));
  }

  static std::size_t length_for(const Transformer& model, std::size_t most) {
    return std::min(most, model.context() - 64);
  }
};

TEST_P(CopiedSessions, HaveTheBitsOfTextsThatAreRead) {
  ThreadPool pool(2);
  for (const KvTypes& kv : {f32, f16, q8_0}) {
    const auto model = load(std::make_shared<CpuBackend>(pool), kv);
    expect_bits(*model, length_for(*model, 150));
  }
}

TEST_P(CopiedSessions, HaveThemWhereTheyWereSavedAndRestored) {
  ThreadPool pool(2);
  for (const KvTypes& kv : {f16, q8_0}) {
    const auto model = load(std::make_shared<CpuBackend>(pool), kv);
    expect_bits(*model, length_for(*model, 150), How::saved);
  }
}

TEST_P(CopiedSessions, HaveThemOnTheReferenceToo) {
  const auto model = load(std::make_shared<ReferenceBackend>(ReferenceBackend::Precision::f32), f16);
  expect_bits(*model, length_for(*model, 24));
}

TEST_P(CopiedSessions, HaveThemOnDevicesToo) {
  const auto device = std::make_shared<TwinDevice>();
  const ModelSpec spec = read_model_spec(Gguf::open(GetParam()).value()).value();
  if (!check(spec, f16, device->caps())) GTEST_SKIP() << "refused by devices";
  const auto model = load(std::make_shared<DeviceBackend>(device), f16);
  expect_bits(*model, length_for(*model, 24));
}

/// Returns the models except for the variants by weight format, which does not matter to copies.
std::vector<fs::path> models_but_for_formats() {
  std::vector<fs::path> models = test::course_models();
  std::erase_if(models, [](const fs::path& file) { return file.stem().string().contains("formats"); });
  return models;
}

INSTANTIATE_TEST_SUITE_P(Models, CopiedSessions, testing::ValuesIn(models_but_for_formats()),
                         [](const auto& file) { return test::test_name_of(file.param); });

class LongTexts : public testing::TestWithParam<const char*> {
 protected:
  /// Returns how much of its first `wanted` tokens a long session can copy, after checking the copy's bits.
  std::size_t given(std::size_t length, std::size_t wanted) {
    return given(length, wanted, std::make_shared<CpuBackend>(pool_));
  }
  static std::size_t given(std::size_t length, std::size_t wanted, std::shared_ptr<const Backend> backend) {
    const auto model =
        Transformer::load(Gguf::open(source_folder() / "tests/data" / GetParam()).value(), std::move(backend))
            .value();
    const std::vector<Token> text = random_text(length, model->vocabulary(), 3);
    const auto source = model->start(0, nodes).value(), copy = model->start(0, nodes).value(),
               fresh = model->start(0, nodes).value();
    EXPECT_TRUE(source->score(text, TokenTree(text.back())));
    const std::size_t found = source->copyable(wanted);
    copy->copy(*source, found);
    std::vector<Token> own(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(found));
    own.insert(own.end(), 100, 5);
    const std::vector<Row> expected = rows_of(*fresh, own, TokenTree(own.back()));
    EXPECT_EQ(rows_of(*copy, own, TokenTree(own.back())), expected);

    // After everything is saved, a prefix of the same length can be restored.
    const auto saved = source->save(source->copyable(length));
    if (!saved) return found;
    EXPECT_EQ(copy->restorable(*saved, wanted), found);
    EXPECT_TRUE(copy->restore(*saved, found));
    EXPECT_EQ(copy->length(), found);
    EXPECT_EQ(rows_of(*copy, own, TokenTree(own.back())), expected);
    return found;
  }

  ThreadPool pool_{2};
};

class Windows : public LongTexts {};

TEST_P(Windows, GiveWhatTheirRingStillHas) {
  EXPECT_EQ(given(700, 699), 699);
  EXPECT_EQ(given(700, 700 - KvSlots::spare_slots), 700 - KvSlots::spare_slots);
  EXPECT_EQ(given(700, 100), 0) << "a part of the window was overwritten";
  EXPECT_EQ(given(200, 100), 100);
}

INSTANTIATE_TEST_SUITE_P(Models, Windows, testing::Values("arch/gemma2-f32.gguf", "arch/gemma3-f32.gguf"),
                         [](const auto& model) { return std::string(model.param).substr(5, 6); });

class States : public LongTexts {};

TEST_P(States, GiveTheTextBeforeOneThatIsKept) {
  EXPECT_EQ(given(300, 299), 299);
  const std::size_t found = given(300, 20);
  EXPECT_LE(found, 20);
  EXPECT_EQ(found % state_grid, 0);
}

TEST_P(States, GiveItOnDevicesToo) {
  const auto twins = std::make_shared<DeviceBackend>(std::make_shared<TwinDevice>());
  EXPECT_EQ(given(300, 299, twins), 299);
  EXPECT_EQ(given(300, 20, twins), given(300, 20));
}

INSTANTIATE_TEST_SUITE_P(Models, States,
                         testing::Values("arch2/qwen35/model-interval2.gguf", "arch2/lfm2/model.gguf"),
                         [](const auto& model) {
                           return std::string(model.index == 0 ? "DeltaNets" : "ShortConvolutions");
                         });

}  // namespace
}  // namespace spectr
