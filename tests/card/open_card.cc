// Devices of this machine, and the twins as a device.
#include <algorithm>
#include <stdexcept>

#include "spectr/backend/cuda/kernel_image.h"
#include "spectr/backend/vulkan/vulkan_devices.h"
#include "tests/card/card.h"
#include "tests/support/value_of.h"

namespace spectr::card {
namespace {

constexpr std::size_t twin_bytes = std::size_t{1} << 30;
constexpr std::size_t never = static_cast<std::size_t>(-1);  // no pass has so many bytes of weights

Result<const cuda::Driver*> cuda_driver() {
  if (!cuda::has_kernel_images()) return error(ErrorCode::unsupported, "this build has no kernels for CUDA");
  return cuda::load_driver();
}

std::shared_ptr<cuda::CudaDevice> open_cuda(const std::string& name, std::size_t min_trial_bytes) {
  const cuda::Driver& driver = *test::value_of(cuda_driver());
  const auto all = test::value_of(cuda::devices(driver));
  const auto found = std::ranges::find(all, name, &cuda::ListedGpu::name);
  if (found == all.end()) throw std::runtime_error(name + ": there is no such device");
  return test::value_of(cuda::CudaDevice::open(driver, static_cast<int>(found - all.begin()),
                                               cuda::kernel_image, {.min_bytes = min_trial_bytes}));
}

}  // namespace

std::vector<std::string> card_names() {
  std::vector<std::string> names = {"twins"};
  if (const auto driver = cuda_driver()) {
    if (const auto gpus = cuda::devices(**driver)) {
      for (const cuda::ListedGpu& one : *gpus) names.push_back(one.name);
    }
  }
  if (const auto gpus = vulkan::devices()) {
    for (const DeviceInfo& one : *gpus) names.push_back(one.name);
  }
  return names;
}

Card open_card(const std::string& name) {
  Card card{.name = name, .device = {}, .twins = {}, .cuda = {}, .reopen = {}};
  const bool is_vulkan = name.starts_with("Vulkan");
  card.twins =
      std::make_shared<TwinDevice>(twin_bytes, is_vulkan ? twin::Rounding::separate : twin::Rounding::fused);
  if (name == "twins") {
    card.device = std::make_shared<TwinDevice>(twin_bytes);
  } else if (is_vulkan) {
    card.device = test::value_of(vulkan::open_device(name));
  } else {
    card.device = card.cuda = open_cuda(name, never);
    card.reopen = [name] { return open_cuda(name, 1); };
  }
  return card;
}

}  // namespace spectr::card
