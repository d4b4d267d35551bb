// The version of the library.
//
//     std::printf("spectr %s\n", spectr::version());
#pragma once

#include <spectr.h>

namespace spectr::inline v0 {

/// Returns the version of the library that is linked, as in "0.1.0". The string is static. Thread-safe.
inline const char* version() noexcept {
  return spectr_version();
}

}  // namespace spectr::inline v0
