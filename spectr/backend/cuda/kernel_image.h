#pragma once

#include <span>
#include <string_view>

namespace spectr::cuda {

/// Kernels as PTX, which the driver compiles for its GPU.
struct KernelImage {
  std::string_view
      format;  ///< of the products that it has (Launch::format); empty: the kernels of all others
  const char* ptx;
};

/// All of this build; none where it has no kernels.
std::span<const KernelImage> kernel_images();

}  // namespace spectr::cuda
