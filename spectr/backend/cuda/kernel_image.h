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

/// Returns the CUDA version that a driver needs for an image, as the driver encodes it: 12010 for 12.1. The
/// image's version of PTX determines it. Returns 0 if the image has none.
int driver_version_for(std::string_view image);

}  // namespace spectr::cuda
