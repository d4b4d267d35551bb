#pragma once

namespace spectr::cuda {

/// The kernels as PTX, which the driver compiles for its GPU; null where this build has none.
const char* kernel_image();

}  // namespace spectr::cuda
