// The CPU backend agrees with the plain reference: whole passes, prefill in
// pieces, trees, and accepted paths.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/reference/reference_backend.h"
#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/transformer.h"
#include "tests/support/models/model_course.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;
using test::course, test::largest_distance;

constexpr KvType f32 = KvType::f32, f16 = KvType::f16, q8 = KvType::q8_0;

class Cpu : public testing::TestWithParam<fs::path> {
 protected:
  std::unique_ptr<Transformer> load(std::shared_ptr<const Backend> backend, const KvTypes& kv,
                                    const Slimming& slimming = {}) const {
    return Transformer::load(Gguf::open(GetParam()).value(), std::move(backend),
                             {.kv = {kv.keys, kv.values}, .slimming = slimming})
        .value();
  }
  std::vector<std::vector<double>> reference(const KvTypes& kv, ReferenceBackend::Precision precision) const {
    return course(*load(std::make_shared<ReferenceBackend>(precision), kv));
  }
};

// Uses the weights that the file's formats define, as f32. The only roundings are those to f32 and to the
// types of the KV cache. Plain loops in f32 show how much a model amplifies the former. F16 and Q8_0 may
// round keys and values that differ in the last bit of f32 to neighbours: that is a small part of the
// error of keeping them in these types.
TEST_P(Cpu, GivesTheLogitsOfTheReference) {
  constexpr auto f64 = ReferenceBackend::Precision::f64;
  // The models of arch2/ are built so that every component has an effect, which amplifies roundings, too.
  const bool is_touchy = GetParam().string().find("arch2") != std::string::npos;
  const auto exact = reference({f32, f32}, f64);
  for (const KvTypes& kv :
       {KvTypes{f32, f32}, {f16, f16}, {f32, f16}, {f16, f32}, {q8, q8}, {q8, f16}, {f32, q8}}) {
    const bool keeps_floats = kv == KvTypes{f32, f32};
    const auto expected = reference(kv, f64);
    const double loops = largest_distance(reference(kv, ReferenceBackend::Precision::f32), expected);
    const double kept = largest_distance(expected, exact) / 8;
    const double limit =
        keeps_floats ? std::max(1e-5, 2 * loops) : std::max({is_touchy ? 4e-3 : 2e-3, 2 * loops, kept});
    const bool has_steps = kv.keys == q8 || kv.values == q8;
    EXPECT_LE(limit, keeps_floats ? 1e-4 : has_steps ? 0.1 : 2e-2) << "else the model could tell nothing";
    for (const int threads : {1, 3}) {
      ThreadPool pool(threads);
      const auto found = course(*load(std::make_shared<CpuBackend>(pool), kv, {.type = TensorType::f32}));
      EXPECT_LE(largest_distance(found, expected), limit)
          << name_of(kv.keys) << " and " << name_of(kv.values) << ", " << threads << " threads";
    }
  }
}

// Uses matrix products in the file's formats, which quantize activations.
TEST_P(Cpu, IsNearTheReferenceWhereItRoundsActivations) {
  const ModelSpec spec = read_model_spec(Gguf::open(GetParam()).value()).value();
  const bool rounds = std::ranges::any_of(spec.weights, [](const WeightSpec& weight) {
    return !weight.is_vector && weight.type != TensorType::f32;
  });
  if (!rounds) return;
  // If a router is undecided, rounding selects another expert, and gpt-oss's router has random weights: it is
  // compared only at the positions of its published logits (FurtherReferences).
  if (spec.architecture == "gpt-oss") return;
  const auto expected = reference({f32, f32}, ReferenceBackend::Precision::f64);
  ThreadPool pool(2);
  const auto found = course(*load(std::make_shared<CpuBackend>(pool), {f32, f32}));
  EXPECT_LE(largest_distance(found, expected), 0.06);
}

INSTANTIATE_TEST_SUITE_P(Models, Cpu, testing::ValuesIn(test::course_models()),
                         [](const auto& file) { return test::test_name_of(file.param); });

}  // namespace
}  // namespace spectr
