#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "spectr/base/recycled.h"

namespace spectr {

/// An array of n uninitialised numbers, for data that is written before it is read.
template <class T>
  requires std::is_trivial_v<T>
class RecycledArray {
 public:
  RecycledArray() = default;
  explicit RecycledArray(std::size_t n) : data_(RecyclingAllocator<T>().allocate(n)), size_(n) {}
  RecycledArray(RecycledArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  RecycledArray& operator=(RecycledArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~RecycledArray() {
    if (data_ != nullptr) RecyclingAllocator<T>().deallocate(data_, size_);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace spectr
