#pragma once

#include "spectr/backend/device/calls.h"
#include "spectr/base/check.h"
#include "tests/twins/twins.h"

namespace spectr::twin {

/// Memory of this process in the role of device memory.
class HostMemory : public DeviceMemory {
 public:
  /// Throws std::bad_alloc.
  explicit HostMemory(std::size_t bytes);
  ~HostMemory() override;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_;
};

/// Returns a pointer into it. Requires: a slice of a HostMemory, with room for `count` numbers.
template <class T>
T* numbers_at(const Slice& slice, std::size_t count = 0) {
  SPECTR_CHECK(slice.memory != nullptr && slice.offset + count * sizeof(T) <= slice.memory->bytes());
  return reinterpret_cast<T*>(static_cast<const HostMemory*>(slice.memory)->data() + slice.offset);
}

/// Executes a kernel call, with the bits that every device must return.
/// Requires: all slices are of HostMemory.
void run(const call::AnyCall& call, Rounding rounding = Rounding::fused);

}  // namespace spectr::twin
