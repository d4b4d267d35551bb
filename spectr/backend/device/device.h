#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>

#include "spectr/base/result.h"
#include "spectr/nn/ops.h"

namespace spectr {

namespace call {
struct AnyCall;
}

/// Memory of a device. It goes back when this ends, and the device must outlive it.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) : bytes_(bytes) {}
  virtual ~DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
};

/// A place in a device's memory, or none.
struct Slice {
  const DeviceMemory* memory = nullptr;
  std::size_t offset = 0;  ///< in bytes

  explicit operator bool() const { return memory != nullptr; }
  Slice behind(std::size_t bytes) const { return {memory, offset + bytes}; }

  friend bool operator==(const Slice&, const Slice&) = default;
};

/// Kernel calls that a device has prepared, to be run any number of times. They are about the same memory
/// each time, whatever it holds.
class Recording {
 public:
  virtual ~Recording() = default;
};

/// Bytes that go from one place to another.
struct DeviceCopy {
  Slice to, from;
  std::size_t bytes;
};

struct DeviceInfo {
  std::string name;           ///< "CUDA0"
  std::string description;    ///< "NVIDIA H100 80GB HBM3"
  std::size_t bytes;          ///< of its memory
  std::size_t free_bytes;     ///< when this was asked for
  bool is_processor = false;  ///< the processor by another name
};

/// A device that computes kernel calls: all that passes need of one. What follows one another is seen in that
/// order. May be used from any threads.
class Device {
 public:
  virtual ~Device() = default;

  virtual DeviceInfo info() const = 0;
  /// Of DeviceOps on it: formats, types of keys and values, and features that it has kernels for.
  virtual const Caps& caps() const = 0;

  /// In how many parts the y of a product that may be split comes at most. Part p of row r begins
  /// (p · rows + r) strides behind the first, for which there must be room; the sum of all parts, neighbours
  /// first, is y. Norm (of what is added and of what it reads), Turn and Activate add them.
  virtual std::size_t most_parts() const { return 1; }

  /// The largest piece of memory that its kernels see as a whole: all keys and values are one.
  virtual std::size_t largest_piece() const { return std::numeric_limits<std::size_t>::max(); }

  /// Aligned to 256 bytes; what it holds is undefined. Throws std::bad_alloc.
  virtual std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) = 0;

  // Errors of the following: the device is lost. Requires: places within their memory, which lives.

  virtual Result<void> upload(const Slice& to, std::span<const std::byte> bytes) = 0;
  virtual Result<void> download(std::span<std::byte> to, const Slice& from) = 0;
  /// All in one go, in any order.
  virtual Result<void> copy(std::span<const DeviceCopy> copies) = 0;
  Result<void> copy(const Slice& to, const Slice& from, std::size_t bytes) {
    const DeviceCopy one{to, from, bytes};
    return copy({&one, 1});
  }

  virtual Result<std::unique_ptr<Recording>> record(std::span<const call::AnyCall> calls) = 0;
  /// Returns once all is done.
  virtual Result<void> run(const Recording& recording) = 0;
  /// Runs calls once.
  virtual Result<void> run(std::span<const call::AnyCall> calls) = 0;
  /// The same, and then brings what is at a place, in one go where it is not too much.
  virtual Result<void> run_and_download(std::span<const call::AnyCall> calls, std::span<std::byte> to,
                                        const Slice& from) = 0;
};

}  // namespace spectr
