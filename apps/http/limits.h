#pragma once

#include <chrono>
#include <cstddef>

namespace spectr::http {

/// What a connection may take.
struct Limits {
  std::size_t head_bytes = 64 << 10;
  std::size_t body_bytes = 4 << 20;
  std::size_t all_bodies = 256 << 20;      ///< bytes of the bodies that are being read, of all connections
  std::chrono::milliseconds head{5'000};   ///< from its first byte to its end
  std::chrono::milliseconds body{30'000};  ///< for a whole body
  std::chrono::milliseconds send{30'000};  ///< for a client that has stopped reading
  std::size_t min_rate = 16 << 10;         ///< bytes a second that a client must read of what takes longer
  std::chrono::milliseconds keep_alive{5'000};  ///< from one request to the next
  std::chrono::milliseconds farewell{1'000};    ///< to take what is still sent, when an answer was the last
  int requests = 1000;                          ///< over one connection
  std::chrono::milliseconds look{100};          ///< how often a client that waits is looked after
  std::chrono::milliseconds sign_of_life{15'000};  ///< to a client that waits
  /// To one that has closed its sending half: it may have gone, which only shows when something is sent.
  std::chrono::milliseconds question{750};
};

}  // namespace spectr::http
