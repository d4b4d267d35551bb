#include "tests/support/devices/fibers.h"
// fibers.h must come first: the kernels included below run on fibers.
#include "spectr/backend/cuda/kernels/all_kernels.cuh"
#include "tests/support/devices/mock_kernels.h"

namespace spectr::test {
namespace {

using namespace cuda;  // NOLINT(google-build-using-namespace): the kernels' namespace

#define SPECTR_KERNEL SPECTR_RUN_KERNEL
#include "spectr/backend/cuda/kernels/kernel_list.cuh"
#undef SPECTR_KERNEL

}  // namespace

std::map<std::string, MockKernel> mock_kernels() {
  std::map<std::string, MockKernel> all;
  const std::string of = "kernels";
#define SPECTR_KERNEL SPECTR_LIST_KERNEL
#include "spectr/backend/cuda/kernels/kernel_list.cuh"
#undef SPECTR_KERNEL
  add_mock_products(all);
  add_mock_products_by_threads(all);
  return all;
}

std::string entry_of(const std::string& name) {
  return " .entry " + name + "(";
}

std::map<std::string, std::string> mock_images() {
  std::map<std::string, std::string> all = {{"kernels", ".version 8.1\n"},
                                            {"kernels_before_hopper", ".version 6.3\n"}};
  for (const auto& [name, kernel] : mock_kernels()) {
    all[kernel.image] += entry_of(name);
    if (kernel.image == "kernels" && !name.starts_with("spectr_attend_"))
      all["kernels_before_hopper"] += entry_of(name);
    const std::string& of_ampere = kernel.image;
    if (name.ends_with("_of_experts")) all[of_ampere.substr(0, of_ampere.rfind('_'))] += entry_of(name);
  }
  return all;
}

}  // namespace spectr::test
