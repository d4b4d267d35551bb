// Replaces devices.cc in builds without the component "gpu".

#include "spectr/engine/devices.h"

namespace spectr {
namespace {

std::unexpected<Error> left_out() {
  return error(
      ErrorCode::unsupported,
      "this build has no GPU backends; ./run with --device or --list-devices adds them, or build with "
      "-DSPECTR_COMPONENTS=all");
}

}  // namespace

Result<std::vector<ListedDevice>> list_devices() {
  return left_out();
}

void keep_device_trials_in(const std::filesystem::path&) {}

Result<std::shared_ptr<const Backend>> device_backend(std::string_view, ThreadPool*) {
  return left_out();
}

Result<std::string> description_of(std::string_view) {
  return left_out();
}

Result<double> copy_speed(std::string_view) {
  return left_out();
}

}  // namespace spectr
