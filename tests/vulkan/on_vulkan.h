#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "spectr/backend/vulkan/vulkan_device.h"
#include "tests/support/value_of.h"

namespace spectr::test {

/// Collects the messages of the validation layer.
class Messages {
 public:
  vulkan::OnMessage listener() {
    return [this](const std::string& text) {
      const std::lock_guard lock(mutex_);
      all_.push_back(text);
    };
  }
  std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> all_;
};

/// Fails if SPECTR_REQUIRE_DEVICE is set, or else skips the test, because there is no device.
#define SPECTR_NO_DEVICE(why)                                                             \
  do {                                                                                    \
    if (std::getenv("SPECTR_REQUIRE_DEVICE") != nullptr) FAIL() << (why);                 \
    GTEST_SKIP() << (why) << "; on Debian: mesa-vulkan-drivers, vulkan-validationlayers"; \
  } while (false)

/// Tests on lavapipe, the driver that computes on the CPU, or on the device that SPECTR_TEST_DEVICE names.
/// Every message of the validation layer is a failure.
template <class Base>
class OnVulkan : public Base {
 protected:
  void SetUp() override {
    setenv("LP_NUM_THREADS", "2", 0);
    const auto loader = vulkan::load_loader();
    if (!loader) SPECTR_NO_DEVICE(loader.error().message);
    const char* const given = std::getenv("SPECTR_TEST_DEVICE");
    const char* const name = given != nullptr && std::string(given).starts_with("Vulkan") ? given : nullptr;
    auto made = vulkan::Instance::make(*loader, messages_.listener());
    if (!made && name != nullptr) made = vulkan::Instance::make(*loader);
    if (!made) SPECTR_NO_DEVICE(made.error().message);
    instance_ = *made;
    const auto found = std::ranges::find_if(instance_->gpus(), [name](const vulkan::Gpu& one) {
      return name != nullptr ? one.name == name : one.is_processor;
    });
    if (found == instance_->gpus().end())
      SPECTR_NO_DEVICE("there is no Vulkan driver that computes on the processor");
    gpu_ = &*found;
    device_ = value_of(vulkan::VulkanDevice::open(instance_, *gpu_));
  }

  void TearDown() override {
    device_.reset();
    instance_.reset();
    EXPECT_THAT(messages_.all(), testing::IsEmpty());
  }

  Messages messages_;
  std::shared_ptr<const vulkan::Instance> instance_;
  const vulkan::Gpu* gpu_ = nullptr;
  std::shared_ptr<vulkan::VulkanDevice> device_;
};

}  // namespace spectr::test
