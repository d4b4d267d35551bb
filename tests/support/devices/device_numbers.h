#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "spectr/backend/device/calls.h"
#include "tests/support/value_of.h"

// Numbers in a device's memory, for tests of single kernel calls. Errors of the device are thrown.
namespace spectr::test {

/// Work that returns bits, which are the same on every device.
using WorkOnDevice = std::function<std::vector<std::uint32_t>(Device&)>;

/// Device memory with numbers in it.
struct Numbers {
  std::unique_ptr<DeviceMemory> memory;
  Slice at() const { return {memory.get()}; }
  call::Rows rows(std::size_t stride) const { return {at(), stride}; }
};

template <class T>
Numbers send(Device& device, const std::vector<T>& numbers) {
  Numbers sent{device.allocate(numbers.size() * sizeof(T))};
  value_of(device.upload(sent.at(), std::as_bytes(std::span(numbers))));
  return sent;
}
/// Returns zeroed memory of `bytes` bytes.
inline Numbers zeros(Device& device, std::size_t bytes) {
  return send(device, std::vector<std::byte>(bytes));
}

template <class T>
std::vector<T> fetch(Device& device, const Numbers& numbers) {
  std::vector<T> all(numbers.memory->bytes() / sizeof(T));
  value_of(device.download(std::as_writable_bytes(std::span(all)), numbers.at()));
  return all;
}
inline std::vector<std::uint32_t> bits(Device& device, const Numbers& numbers) {
  return fetch<std::uint32_t>(device, numbers);
}

inline void run(Device& device, const call::AnyCall& call) {
  value_of(device.run({&call, 1}));
}

}  // namespace spectr::test
