#pragma once

#include <cstdint>

namespace spectr {

/// FNV-1a over words of 64 bits: tells contents apart, but not against somebody who wants it not to.
class Fnv1a {
 public:
  void add(std::uint64_t word) { value_ = (value_ ^ word) * 0x100000001b3u; }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace spectr
