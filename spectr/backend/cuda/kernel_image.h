#pragma once

#include <string>
#include <string_view>

namespace spectr::cuda {

/// Returns true if this build has GPU kernels.
bool has_kernel_images();

/// Returns kernels as PTX, which the driver compiles for its GPU: a format's products, by the common prefix
/// of their names ("product_q8_0"), or all other kernels ("kernels"). Empty if the build does not have them.
/// Decompression takes tens of milliseconds.
std::string kernel_image(std::string_view name);

}  // namespace spectr::cuda
