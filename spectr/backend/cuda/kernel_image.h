#pragma once

#include <string_view>

namespace spectr::cuda {

/// Kernels as PTX, which the driver compiles for its GPU: the products of a format, by the name that their
/// names begin with, "product_q8_0"; or all other ones, "kernels". Null where this build has none.
const char* kernel_image(std::string_view name);

}  // namespace spectr::cuda
