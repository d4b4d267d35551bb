#pragma once

#include <string>
#include <string_view>

namespace spectr::cuda {

/// Whether this build has kernels for GPUs.
bool has_kernel_images();

/// Kernels as PTX, which the driver compiles for its GPU: the products of a format, by the name that their
/// names begin with, "product_q8_0"; or all other ones, "kernels". Nothing where this build has none. Takes
/// some hundredths of a second: they are kept compressed.
std::string kernel_image(std::string_view name);

}  // namespace spectr::cuda
