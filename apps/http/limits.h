#pragma once

#include <chrono>
#include <cstddef>

namespace spectr::http {

/// Limits of a server's connections.
struct Limits {
  std::size_t head_bytes = 64 << 10;
  std::size_t body_bytes = 4 << 20;
  std::size_t all_bodies = 256 << 20;            ///< total bytes of all bodies that are being read
  std::chrono::milliseconds head{5'000};         ///< from the first byte of a head to its end
  std::chrono::milliseconds body{30'000};        ///< for a whole body
  std::chrono::milliseconds send{30'000};        ///< without progress of a write
  std::size_t min_rate = 16 << 10;               ///< bytes per second that a client must read of a long write
  std::chrono::milliseconds keep_alive{5'000};   ///< from one request to the next
  std::chrono::milliseconds linger{1'000};       ///< to discard input after the last answer
  int requests = 1000;                           ///< per connection
  std::chrono::milliseconds poll_interval{100};  ///< interval between checks of a client that waits
  std::chrono::milliseconds keepalive_interval{15'000};  ///< interval of keepalives to a client that waits
  /// Time until a client that has closed its sending half is first probed; it may have disconnected.
  std::chrono::milliseconds probe_delay{750};
};

}  // namespace spectr::http
