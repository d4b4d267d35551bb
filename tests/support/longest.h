#pragma once

#include <chrono>

namespace spectr::test {

/// The time limits of tests; a test that exceeds its limit is considered to hang. Sanitizers slow programs
/// down by a factor of ten to a hundred.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int slower = 6;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
inline constexpr int slower = 6;
#else
inline constexpr int slower = 1;
#endif
#else
inline constexpr int slower = 1;
#endif

inline constexpr std::chrono::seconds longest_program{slower * 300};  ///< a run of a program
inline constexpr std::chrono::seconds longest_test{slower * 540};     ///< a test

}  // namespace spectr::test
