#include "spectr/backend/device/copy_speed.h"

#include <algorithm>
#include <limits>
#include <new>

#include "spectr/base/stopwatch.h"

namespace spectr {

Result<double> copy_speed(Device& device) {
  constexpr std::size_t most = std::size_t{1} << 30;
  const DeviceInfo info = device.info();
  const std::size_t bytes = std::min(most, info.free_bytes / 4) / 256 * 256;
  try {
    const auto from = device.allocate(bytes), to = device.allocate(bytes);
    double fastest = std::numeric_limits<double>::infinity();
    for (int run = 0; run < 6; ++run) {
      Stopwatch watch;
      SPECTR_TRY_VOID(device.copy({to.get()}, {from.get()}, bytes));
      fastest = std::min(fastest, watch.lap());
    }
    return 2.0 * static_cast<double>(bytes) / fastest;
  } catch (const std::bad_alloc&) {
    return error(ErrorCode::out_of_memory, "{}: there is no memory for a copy of {} bytes", info.name, bytes);
  }
}

}  // namespace spectr
