// Trained drafters and the states that they read, on a device: the logits are those of the CPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/device/device_backend.h"
#include "tests/support/models/drafter_course.h"
#include "tests/twins/twin_device.h"

namespace spectr {
namespace {

using test::DrafterCase;
using testing::HasSubstr;

std::shared_ptr<const Backend> drafters_on_twins() {
  return std::make_shared<DeviceBackend>(std::make_shared<TwinDevice>());
}

std::shared_ptr<const Backend> drafters_on_cpu() {
  static ThreadPool pool(2);
  return std::make_shared<CpuBackend>(pool);
}

class DeviceDrafters : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Kinds, DeviceDrafters,
                         testing::Values("eagle3-norm", "eagle3-shared", "eagle3-d2t", "dflash-8",
                                         "dflash-16-window", "dflash-6-scaled", "mtp-qwen35", "mtp-glm4moe"),
                         test::name_of_drafter);

TEST_P(DeviceDrafters, HaveTheLogitsOfTheCpu) {
  const DrafterCase here(GetParam(), drafters_on_cpu()), there(GetParam(), drafters_on_twins());
  test::expect_equal_drafts(here, there, 1e-4);
}

TEST_P(DeviceDrafters, ReadTheStatesOfTheCpu) {
  const DrafterCase here(GetParam(), drafters_on_cpu()), there(GetParam(), drafters_on_twins());
  const auto of_cpu = here.target().start(200, 8).value(), of_device = there.target().start(200, 8).value();
  const std::vector<Token> text = test::drafted_sequence(40);
  for (Session* session : {of_cpu.get(), of_device.get()}) {
    session->features()->record(Features::Recorded::all);
    ASSERT_TRUE(session->score(text, TokenTree(text.back())));
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    test::expect_near(of_device->features()->at(i), of_cpu->features()->at(i), 1e-4,
                      "state " + std::to_string(i));
  }
}

TEST(DeviceDrafter, OfAnUnsupportedKindIsRefusedByName) {
  for (const auto& [name, reason] : {std::pair{"dflash2-8", "convolutions"}, {"dspark-7", "norm"}}) {
    const DrafterCase here(name, drafters_on_cpu());
    Gguf file = Gguf::open(DrafterCase::folder() / (std::string(name) + ".gguf")).value();
    const auto refused = TrainedDrafter::load(std::move(file), here.target(), drafters_on_twins());
    ASSERT_FALSE(refused) << name;
    EXPECT_THAT(refused.error().message, HasSubstr(reason)) << name;
  }
}

}  // namespace
}  // namespace spectr
