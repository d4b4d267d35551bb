#pragma once

#include <chrono>
#include <thread>

namespace spectr::test {

/// Polls a condition until it holds. Returns false if it does not within two minutes.
template <class Condition>
[[nodiscard]] bool comes_true(const Condition& condition,
                              std::chrono::milliseconds interval = std::chrono::milliseconds(5)) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(interval);
  }
  return true;
}

}  // namespace spectr::test
