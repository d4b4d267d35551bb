// Whole models with latent attention on devices: near the references, with the bits of the twins, and
// with the same bits in every batch.
#include <gtest/gtest.h>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/cuda/cuda_device.h"
#include "spectr/backend/device/device_backend.h"
#include "spectr/backend/reference/reference_backend.h"
#include "tests/nn/random_sequences.h"
#include "tests/support/devices/mock_cuda.h"
#include "tests/support/models/latent_model.h"
#include "tests/support/models/model_course.h"
#include "tests/support/value_of.h"
#include "tests/twins/twin_device.h"

namespace spectr {
namespace {

using namespace test;

constexpr KvType f32 = KvType::f32, f16 = KvType::f16, q8 = KvType::q8_0;

/// Heads of odd sizes, and matrices of several formats.
std::vector<LatentModel> models() {
  return {{TensorType::f32, 3, 6, 4, 5, 7},
          {TensorType::f16, 17, 10, 4, 12, 9},
          {TensorType::q8_0, 2, 64, 16, 32, 24},
          {TensorType::q4_0, 3, 96, 8, 64, 12}};
}

class LatentDevices : public testing::TestWithParam<LatentModel> {
 protected:
  std::unique_ptr<Transformer> load(std::shared_ptr<const Backend> backend, const KvTypes& kv) const {
    return value_of(Transformer::load(value_of(Gguf::parse(file_, "latent.gguf")), std::move(backend),
                                      {.kv = {kv.keys, kv.values}}));
  }
  std::unique_ptr<Transformer> load(std::shared_ptr<Device> device, const KvTypes& kv) const {
    return load(std::make_shared<DeviceBackend>(std::move(device)), kv);
  }

  const std::vector<std::byte> file_ = file_of(GetParam());
};

TEST_P(LatentDevices, AreNearTheReference) {
  const bool is_float = GetParam().type == TensorType::f32 || GetParam().type == TensorType::f16;
  ThreadPool pool(1);
  for (const KvTypes& kv : {KvTypes{f32, f32}, {f16, f16}, {q8, f16}}) {
    const auto found = course(*load(std::make_shared<TwinDevice>(), kv));
    const std::shared_ptr<const Backend> reference =
        is_float ? std::shared_ptr<const Backend>(
                       std::make_shared<ReferenceBackend>(ReferenceBackend::Precision::f64))
                 : std::make_shared<CpuBackend>(pool);
    const double bound = kv.keys == q8 ? 0.05 : !is_float ? 0.02 : kv.keys == f32 ? 1e-4 : 4e-3;
    EXPECT_LE(largest_distance(found, course(*load(reference, kv))), bound) << name_of(kv.keys);
  }
}

TEST_P(LatentDevices, HaveTheSameBitsAsNodesAndAsText) {
  const auto model = load(std::make_shared<TwinDevice>(), {q8, q8});
  std::vector<Token> text = random_text(70, model->vocabulary(), 1);
  const auto session = model->start(0, 12).value();
  for (std::uint32_t block = 0; block < 2; ++block) {
    const TokenTree tree = random_tree(text.back(), 12, model->vocabulary(), block);
    ASSERT_TRUE(session->score(text, tree));
    for (NodeId node = 0; node < tree.size(); node += 3)
      ASSERT_EQ(row_of(*session, node), alone(*model, text_at(text, tree, node)));
    const RecycledVector<NodeId> path = tree.path(tree.size() - 1);
    session->keep(path);
    for (const NodeId node : path) text.push_back(tree.token(node));
    text.push_back(5);
  }
}

TEST_P(LatentDevices, HaveTheBitsOfTheTwinsByCuda) {
  const MockCuda mock;
  const std::shared_ptr<Device> cuda = value_of(cuda::CudaDevice::open(mock.driver(), 0, MockCuda::image));
  const KvTypes kv{q8, f16};
  EXPECT_EQ(course(*load(cuda, kv), 5, 2, 3), course(*load(std::make_shared<TwinDevice>(), kv), 5, 2, 3));
}

INSTANTIATE_TEST_SUITE_P(Models, LatentDevices, testing::ValuesIn(models()),
                         [](const auto& one) { return std::string(format_of(one.param.type).name); });

}  // namespace
}  // namespace spectr
