#include "spectr/backend/vulkan/instance.h"

#include <array>
#include <utility>

namespace spectr::vulkan {
namespace {

constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";

VkBool32 hear(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
              const VkDebugUtilsMessengerCallbackDataEXT* data, void* on_message) {
  (*static_cast<const OnMessage*>(on_message))(data->pMessage);
  return VK_FALSE;
}

}  // namespace

Result<std::shared_ptr<const Instance>> Instance::make(PFN_vkGetInstanceProcAddr get, OnMessage on_message) {
  std::shared_ptr<Instance> instance(new Instance());
  instance->on_message_ = std::move(on_message);
  SPECTR_TRY_VOID(instance->begin(get));
  SPECTR_TRY_VOID(instance->find_gpus());
  return instance;
}

Result<void> Instance::begin(PFN_vkGetInstanceProcAddr get) {
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(get(nullptr, "vkCreateInstance"));
  auto application = structure<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
  application.pApplicationName = "spectr";
  application.apiVersion = VK_API_VERSION_1_3;
  auto info = structure<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
  info.pApplicationInfo = &application;

  const VkValidationFeatureEnableEXT more = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
  auto features = structure<VkValidationFeaturesEXT>(VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT);
  features.enabledValidationFeatureCount = 1;
  features.pEnabledValidationFeatures = &more;
  auto listener =
      structure<VkDebugUtilsMessengerCreateInfoEXT>(VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT);
  listener.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  listener.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  listener.pfnUserCallback = hear;
  listener.pUserData = &on_message_;
  constexpr std::array extensions{VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
  if (on_message_) {
    features.pNext = &listener;
    info.pNext = &features;
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &validation_layer;
    info.enabledExtensionCount = extensions.size();
    info.ppEnabledExtensionNames = extensions.data();
  }
  const VkResult result = create(&info, nullptr, &instance_);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
    return error(ErrorCode::unsupported, "there is no Vulkan driver (the loader finds none)");
  if (result != VK_SUCCESS)
    return error(ErrorCode::unsupported, "Vulkan cannot be used: {}", text_of(result));
  api_ = instance_api(get, instance_);
  if (!on_message_) return {};
  const auto listen =
      reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(get(instance_, "vkCreateDebugUtilsMessengerEXT"));
  destroy_messenger_ = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
      get(instance_, "vkDestroyDebugUtilsMessengerEXT"));
  listen(instance_, &listener, nullptr, &messenger_);
  return {};
}

Result<void> Instance::find_gpus() {
  std::uint32_t count = 0;
  api_.vkEnumeratePhysicalDevices(instance_, &count, nullptr);
  std::vector<VkPhysicalDevice> all(count);
  api_.vkEnumeratePhysicalDevices(instance_, &count, all.data());
  if (all.empty()) return error(ErrorCode::unsupported, "there is no Vulkan device");
  for (VkPhysicalDevice one : all) gpus_.push_back(Gpu::describe(api_, one, gpus_.size()));
  return {};
}

Instance::~Instance() {
  if (messenger_ != VK_NULL_HANDLE) destroy_messenger_(instance_, messenger_, nullptr);
  if (instance_ != VK_NULL_HANDLE) api_.vkDestroyInstance(instance_, nullptr);
}

}  // namespace spectr::vulkan
