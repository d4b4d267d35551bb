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

/// An allocation on a device, freed on destruction. The device must outlive it.
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

/// Memory of the host. Uploads from it and downloads to it are the fastest. The device must outlive it.
class StagingMemory {
 public:
  explicit StagingMemory(std::span<std::byte> bytes) : bytes_(bytes) {}
  virtual ~StagingMemory() = default;
  StagingMemory(const StagingMemory&) = delete;
  StagingMemory& operator=(const StagingMemory&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

/// A location in a device's memory, or none.
struct Slice {
  const DeviceMemory* memory = nullptr;
  std::size_t offset = 0;  ///< in bytes

  explicit operator bool() const { return memory != nullptr; }
  Slice behind(std::size_t bytes) const { return {memory, offset + bytes}; }

  friend bool operator==(const Slice&, const Slice&) = default;
};

/// A recorded list of kernel calls that can be replayed any number of times. The addresses are fixed; the
/// memory's contents may change between replays.
class Recording {
 public:
  virtual ~Recording() = default;
};

/// A copy of bytes within the device's memory.
struct DeviceCopy {
  Slice to, from;
  std::size_t bytes;
};

struct DeviceInfo {
  std::string name;           ///< "CUDA0"
  std::string description;    ///< "NVIDIA H100 80GB HBM3"
  std::size_t bytes;          ///< total memory
  std::size_t free_bytes;     ///< free memory at the time of the query
  bool is_processor = false;  ///< true if the device is the CPU behind a GPU interface
};

/// A device that executes kernel calls: the complete interface that passes need. Operations take effect in
/// the order in which they are issued. Thread-safe.
class Device {
 public:
  virtual ~Device() = default;

  virtual DeviceInfo info() const = 0;
  /// Returns the formats, KV types and features for which DeviceOps has kernels on this device.
  virtual const Caps& caps() const = 0;

  /// Maximum split-K factor of a product's y. Part p of row r begins (p · rows + r) strides after the first
  /// row; there must be room for all parts. Readers sum the parts pairwise to get y: Norm (for `added` and
  /// its input), Rope and Activate.
  virtual std::size_t max_parts() const { return 1; }

  /// Returns the largest allocation that kernels can address. The whole KV cache is one allocation.
  virtual std::size_t largest_piece() const { return std::numeric_limits<std::size_t>::max(); }

  /// Allocates memory aligned to 256 bytes, with undefined contents. Throws std::bad_alloc.
  virtual std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) = 0;

  /// Allocates memory of the host; by default it is not special. Throws std::bad_alloc.
  virtual std::unique_ptr<StagingMemory> allocate_staging(std::size_t bytes);

  // Errors of the following functions: those of the driver. ErrorCode::device_lost: every further call fails.
  // Another code, e.g. out_of_memory: this call alone failed. Requires: all slices are within live memory.

  /// Staging memory must not change until the next run is complete; other bytes are copied at once.
  virtual Result<void> upload(const Slice& to, std::span<const std::byte> bytes) = 0;
  virtual Result<void> download(std::span<std::byte> to, const Slice& from) = 0;
  /// Executes all copies in one submission, in any order.
  virtual Result<void> copy(std::span<const DeviceCopy> copies) = 0;
  Result<void> copy(const Slice& to, const Slice& from, std::size_t bytes) {
    const DeviceCopy one{to, from, bytes};
    return copy({&one, 1});
  }

  virtual Result<std::unique_ptr<Recording>> record(std::span<const call::AnyCall> calls) = 0;
  /// Replays a recording and waits until it is complete.
  virtual Result<void> run(const Recording& recording) = 0;
  /// Runs the calls once and waits until they are complete.
  virtual Result<void> run(std::span<const call::AnyCall> calls) = 0;
  /// Runs the calls once, then downloads a slice, in the same submission if it is small enough.
  virtual Result<void> run_and_download(std::span<const call::AnyCall> calls, std::span<std::byte> to,
                                        const Slice& from) = 0;
};

}  // namespace spectr
