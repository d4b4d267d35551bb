// Errors if Vulkan is unavailable, if a device lacks a feature, and if it is lost. A loader between the
// program and the driver injects these faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "spectr/backend/device/device_backend.h"
#include "spectr/backend/vulkan/vulkan_devices.h"
#include "tests/nn/random_sequences.h"
#include "tests/support/data.h"
#include "tests/support/real_model.h"
#include "tests/vulkan/on_vulkan.h"

// Drivers and layers leak memory when they are unloaded, and leak detectors cannot attribute it. The
// validation layer reports leaked Vulkan objects.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): as the sanitizer names it
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() {
  return 1;
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace spectr {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::StartsWith;
using vulkan::Gpu;
using vulkan::Instance;
using vulkan::VulkanDevice;

/// The faults that the functions below inject.
struct Faults {
  std::uint32_t version = 0;  ///< reported Vulkan version; 0: the device's own
  bool has_dot_products = true;
  std::uint32_t invocations = 0;  ///< per group; 0: the device's own
  int submissions = -1;           ///< number until the device is lost; −1: never
  bool has_devices = true;
};
Faults faults;
PFN_vkGetInstanceProcAddr next_get;
PFN_vkGetDeviceProcAddr next_get_of_device;
PFN_vkGetPhysicalDeviceProperties2 next_properties;
PFN_vkGetPhysicalDeviceFeatures2 next_features;
PFN_vkEnumeratePhysicalDevices next_devices;
PFN_vkQueueSubmit next_submit;

void properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2* all) {
  next_properties(device, all);
  if (faults.version != 0) all->properties.apiVersion = faults.version;
  if (faults.invocations != 0) all->properties.limits.maxComputeWorkGroupInvocations = faults.invocations;
}

void features(VkPhysicalDevice device, VkPhysicalDeviceFeatures2* all) {
  next_features(device, all);
  for (auto* next = static_cast<VkBaseOutStructure*>(all->pNext); next != nullptr; next = next->pNext) {
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES && !faults.has_dot_products)
      reinterpret_cast<VkPhysicalDeviceVulkan13Features*>(next)->shaderIntegerDotProduct = VK_FALSE;
  }
}

VkResult devices(VkInstance instance, std::uint32_t* count, VkPhysicalDevice* all) {
  if (faults.has_devices) return next_devices(instance, count, all);
  *count = 0;
  return VK_SUCCESS;
}

VkResult submit(VkQueue queue, std::uint32_t count, const VkSubmitInfo* infos, VkFence fence) {
  if (faults.submissions == 0) return VK_ERROR_DEVICE_LOST;
  if (faults.submissions > 0) --faults.submissions;
  return next_submit(queue, count, infos, fence);
}

PFN_vkVoidFunction get_of_device(VkDevice device, const char* name) {
  const PFN_vkVoidFunction found = next_get_of_device(device, name);
  if (std::strcmp(name, "vkQueueSubmit") != 0) return found;
  next_submit = reinterpret_cast<PFN_vkQueueSubmit>(found);
  return reinterpret_cast<PFN_vkVoidFunction>(&submit);
}

template <class Function>
PFN_vkVoidFunction instead(PFN_vkVoidFunction found, Function& next, Function own) {
  next = reinterpret_cast<Function>(found);
  return reinterpret_cast<PFN_vkVoidFunction>(own);
}

PFN_vkVoidFunction get(VkInstance instance, const char* name) {
  const PFN_vkVoidFunction found = next_get(instance, name);
  const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
  if (is("vkGetDeviceProcAddr")) return instead(found, next_get_of_device, &get_of_device);
  if (is("vkGetPhysicalDeviceProperties2")) return instead(found, next_properties, &properties);
  if (is("vkGetPhysicalDeviceFeatures2")) return instead(found, next_features, &features);
  if (is("vkEnumeratePhysicalDevices")) return instead(found, next_devices, &devices);
  return found;
}

TEST(VulkanLoader, IsMissedByName) {
  EXPECT_EQ(vulkan::load_loader("libspectr-has-no-such.so.1").error().message,
            "there is no Vulkan driver (libspectr-has-no-such.so.1 was not found)");
  EXPECT_EQ(vulkan::load_loader("libc.so.6").error().message,
            "libc.so.6 is no loader of Vulkan: it has no vkGetInstanceProcAddr");
}

class VulkanErrors : public OnVulkan<testing::Test> {
 protected:
  void SetUp() override {
    OnVulkan::SetUp();
    if (device_ == nullptr) return;
    next_get = vulkan::load_loader().value();
    faults = {};
  }
  /// Opens the tests' device again, with the faults.
  Result<std::shared_ptr<VulkanDevice>> open_again() {
    SPECTR_TRY(again_, Instance::make(get, messages_.listener()));
    return VulkanDevice::open(again_,
                              again_->gpus()[static_cast<std::size_t>(gpu_ - instance_->gpus().data())]);
  }
  std::string name() const { return gpu_->name + " (" + gpu_->description + "): "; }

  std::shared_ptr<const Instance> again_;
};

/// Sets an environment variable during its lifetime.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST_F(VulkanErrors, SayThatThereIsNoDriver) {
  const Variable files("VK_DRIVER_FILES", "/nonexistent"), older_name("VK_ICD_FILENAMES", "/nonexistent");
  EXPECT_THAT(vulkan::devices().error().message, StartsWith("there is no Vulkan driver"));
}

TEST_F(VulkanErrors, SayThatThereIsNoDevice) {
  faults.has_devices = false;
  EXPECT_EQ(Instance::make(get).error().message, "there is no Vulkan device");
  EXPECT_EQ(vulkan::open_device("Vulkan99").error().message, "there is no such device; see --list-devices");
}

TEST_F(VulkanErrors, SayWhatADeviceLacks) {
  faults.version = VK_MAKE_API_VERSION(0, 1, 2, 0);
  EXPECT_EQ(open_again().error().message, name() + "Vulkan 1.2, but 1.3 is needed");
  faults = {};
  faults.has_dot_products = false;
  EXPECT_EQ(open_again().error().message, name() + "no shaderIntegerDotProduct, which is needed");
  faults = {};
  faults.invocations = 256;
  EXPECT_EQ(open_again().error().message, name() + "256 invocations of a group, but 512 are needed");
}

TEST_F(VulkanErrors, SayThatTheDeviceIsLostForThisAndEveryFurtherPass) {
  const auto lossy = value_of(open_again());
  const auto model =
      Transformer::load(Gguf::open(*find_data(bundled_draft)).value(), std::make_shared<DeviceBackend>(lossy))
          .value();
  const auto session = model->start(0, 1).value();
  std::vector<Token> text = random_text(3, model->vocabulary(), 1);
  ASSERT_TRUE(session->score(text, TokenTree(text.back())));
  const std::string said = gpu_->name + ": the device was lost during a pass (VK_ERROR_DEVICE_LOST)";
  faults.submissions = 0;
  for (int i = 0; i < 2; ++i) {
    text.push_back(5);
    const auto scored = session->score(text, TokenTree(text.back()));
    ASSERT_FALSE(scored);
    EXPECT_EQ(scored.error().message, said);
    faults.submissions = -1;  // whatever the driver reports afterwards
  }
}

TEST_F(VulkanErrors, ListDevicesWithTheirMemory) {
  const auto all = value_of(vulkan::devices());
  const auto found = std::ranges::find(all, gpu_->name, &DeviceInfo::name);
  ASSERT_NE(found, all.end());
  EXPECT_EQ(found->description, gpu_->description);
  EXPECT_EQ(found->is_processor, gpu_->is_processor);
  EXPECT_GT(found->bytes, 0u);
  EXPECT_LE(found->free_bytes, found->bytes);
}

// The layer is active and checks synchronization: tests that expect no messages rely on this.
TEST_F(VulkanErrors, AreHeardFromTheValidationLayer) {
  Messages heard;
  const auto listening = value_of(Instance::make(vulkan::load_loader().value(), heard.listener()));
  const Gpu& of = listening->gpus()[static_cast<std::size_t>(gpu_ - instance_->gpus().data())];
  const auto opened = value_of(vulkan::LogicalDevice::open(listening, of));
  const vulkan::DeviceApi& api = opened->api();
  const vulkan::Buffer a(*opened, 64, vulkan::Place::device), b(*opened, 64, vulkan::Place::device);
  auto pool_info = vulkan::structure<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  pool_info.queueFamilyIndex = of.family;
  VkCommandPool pool = VK_NULL_HANDLE;
  ASSERT_EQ(api.vkCreateCommandPool(opened->handle(), &pool_info, nullptr, &pool), VK_SUCCESS);
  auto info = vulkan::structure<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  info.commandPool = pool;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  ASSERT_EQ(api.vkAllocateCommandBuffers(opened->handle(), &info, &commands), VK_SUCCESS);
  const auto begin = vulkan::structure<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  ASSERT_EQ(api.vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
  const VkBufferCopy all{0, 0, 64};
  api.vkCmdCopyBuffer(commands, a.handle(), b.handle(), 1, &all);
  EXPECT_THAT(heard.all(), testing::IsEmpty());
  api.vkCmdCopyBuffer(commands, b.handle(), a.handle(), 1, &all);  // without a barrier
  EXPECT_THAT(heard.all(), testing::Contains(HasSubstr("READ_AFTER_WRITE")));
  api.vkDestroyCommandPool(opened->handle(), pool, nullptr);
}

}  // namespace
}  // namespace spectr
