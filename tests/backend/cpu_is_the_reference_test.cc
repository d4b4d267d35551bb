// The processor's backend gives what the plain reference gives: whole passes, prompts in pieces, trees,
// accepted paths.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/reference/reference_backend.h"
#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/transformer.h"
#include "tests/support/data.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> models() {
  std::vector<fs::path> found;
  for (const char* folder : {"tests/data/arch", "tests/data/arch2"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source_folder() / folder)) {
      if (entry.path().extension() == ".gguf") found.push_back(entry.path());
    }
  }
  std::ranges::sort(found);
  return found;
}

std::vector<double> copy(const Logits& row) {
  return std::visit([](auto numbers) { return std::vector<double>(numbers.begin(), numbers.end()); },
                    row.values());
}

double relative_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0.0, norm = 0.0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(difference / norm);
}

/// A text of several pieces, then blocks: a tree is scored and a path of it kept. Gives every row of logits.
std::vector<std::vector<double>> course(const Transformer& model) {
  constexpr NodeId nodes = 9;
  std::mt19937 random(1);
  const auto token = [&] { return static_cast<Token>(3 + random() % (model.vocabulary() - 3)); };
  std::vector<Token> text;
  while (text.size() < 100) text.push_back(token());
  const auto session = model.start(0, nodes).value();
  std::vector<std::vector<double>> rows;
  for (int block = 0; block < 4; ++block) {
    TokenTree tree(text.back());
    while (tree.size() < nodes)
      tree.child(static_cast<NodeId>(random() % static_cast<unsigned>(tree.size())), token());
    EXPECT_TRUE(session->score(text, tree));
    for (NodeId node = 0; node < tree.size(); ++node) rows.push_back(copy(session->logits(node)));
    const RecycledVector<NodeId> path = tree.path(static_cast<NodeId>(nodes - 1 - block));
    session->keep(path);
    for (const NodeId node : path) text.push_back(tree.token(node));
    text.push_back(token());
  }
  return rows;
}

constexpr KvType f32 = KvType::f32, f16 = KvType::f16;

class Cpu : public testing::TestWithParam<fs::path> {
 protected:
  std::unique_ptr<Transformer> load(std::shared_ptr<const Backend> backend, const KvTypes& kv,
                                    const Slimming& slimming = {}) const {
    return Transformer::load(Gguf::open(GetParam()).value(), std::move(backend), {kv.keys, kv.values},
                             slimming)
        .value();
  }
  std::vector<std::vector<double>> reference(const KvTypes& kv, ReferenceBackend::Precision precision) const {
    return course(*load(std::make_shared<ReferenceBackend>(precision), kv));
  }
};

double largest_distance(const std::vector<std::vector<double>>& found,
                        const std::vector<std::vector<double>>& expected) {
  EXPECT_EQ(found.size(), expected.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < found.size(); ++i)
    largest = std::max(largest, relative_distance(found[i], expected[i]));
  return largest;
}

// With the weights that the file's formats define, as floats: nothing is rounded but to float, and to what
// keys and values are kept as. How much a model makes of the first, plain loops in float say. F16 rounds keys
// and values that differ by a unit of F32 to neighbours: that is a small part of what keeping F16 does at
// all.
TEST_P(Cpu, GivesTheLogitsOfTheReference) {
  constexpr auto f64 = ReferenceBackend::Precision::f64;
  // The models of arch2/ are made so that every part shows, and so does every rounding.
  const bool is_touchy = GetParam().string().find("arch2") != std::string::npos;
  const auto exact = reference({f32, f32}, f64);
  for (const KvTypes& kv : {KvTypes{f32, f32}, {f16, f16}, {f32, f16}, {f16, f32}}) {
    const bool keeps_floats = kv == KvTypes{f32, f32};
    const auto expected = reference(kv, f64);
    const double loops = largest_distance(reference(kv, ReferenceBackend::Precision::f32), expected);
    const double kept = largest_distance(expected, exact) / 8;
    const double limit =
        keeps_floats ? std::max(1e-5, 2 * loops) : std::max({is_touchy ? 4e-3 : 2e-3, 2 * loops, kept});
    EXPECT_LE(limit, keeps_floats ? 1e-4 : 2e-2) << "else the model could tell nothing";
    for (const int threads : {1, 3}) {
      ThreadPool pool(threads);
      const auto found = course(*load(std::make_shared<CpuBackend>(pool), kv, {.type = TensorType::f32}));
      EXPECT_LE(largest_distance(found, expected), limit)
          << name_of(kv.keys) << " and " << name_of(kv.values) << ", " << threads << " threads";
    }
  }
}

// With products of the file's formats, which round what they are multiplied with.
TEST_P(Cpu, IsNearTheReferenceWhereItRoundsActivations) {
  const ModelSpec spec = read_model_spec(Gguf::open(GetParam()).value()).value();
  const bool rounds = std::ranges::any_of(spec.weights, [](const WeightSpec& weight) {
    return !weight.is_vector && weight.type != TensorType::f32;
  });
  if (!rounds) return;
  // Where a router is undecided rounding chooses another expert, and gpt-oss's is of random numbers: it is
  // compared at the places where its published logits are (FurtherReferences).
  if (spec.architecture == "gpt-oss") return;
  const auto expected = reference({f32, f32}, ReferenceBackend::Precision::f64);
  ThreadPool pool(2);
  const auto found = course(*load(std::make_shared<CpuBackend>(pool), {f32, f32}));
  EXPECT_LE(largest_distance(found, expected), 0.06);
}

INSTANTIATE_TEST_SUITE_P(Models, Cpu, testing::ValuesIn(models()), [](const auto& file) {
  std::string name = file.param.parent_path().filename().string() + file.param.stem().string();
  std::erase_if(name, [](unsigned char c) { return !std::isalnum(c); });
  return name;
});

}  // namespace
}  // namespace spectr
