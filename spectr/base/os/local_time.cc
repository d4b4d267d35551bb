#include "spectr/base/os/local_time.h"

namespace spectr {

std::tm local_time(std::time_t time) {
  std::tm local{};
  localtime_r(&time, &local);
  return local;
}

}  // namespace spectr
