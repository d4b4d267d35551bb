#pragma once

namespace spectr {

/// a per b, 0 where nothing was counted or no time has passed.
inline double ratio(double a, double b) {
  return b > 0.0 ? a / b : 0.0;
}

}  // namespace spectr
