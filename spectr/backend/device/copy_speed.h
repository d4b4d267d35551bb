#pragma once

#include "spectr/backend/device/device.h"

namespace spectr {

/// Returns the bytes per second that copies within the device's memory read and write, the best of several: a
/// bound of passes. They copy 1 GiB, or a quarter of the free memory if that is less. Fails without memory
/// for it, or if the device is lost.
Result<double> copy_speed(Device& device);

}  // namespace spectr
