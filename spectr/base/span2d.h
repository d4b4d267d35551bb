#pragma once

#include <cstddef>
#include <span>

#include "spectr/base/check.h"

namespace spectr {

/// A row-major view of [rows, cols] numbers.
template <class T>
class Span2d {
 public:
  Span2d() = default;
  /// Requires: `data` points to rows · cols numbers, which outlive the view.
  Span2d(T* data, std::size_t rows, std::size_t cols) : data_(data), rows_(rows), cols_(cols) {}
  /// Converts a view of mutable numbers to a view of constant ones.
  operator Span2d<const T>() const { return {data_, rows_, cols_}; }  // NOLINT(google-explicit-constructor)

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  T* data() const { return data_; }
  /// Returns one row. Requires: row < rows().
  std::span<T> operator[](std::size_t row) const { return {data_ + row * cols_, cols_}; }
  /// Returns rows [begin, begin + count). Requires: begin + count ≤ rows().
  Span2d rows(std::size_t begin, std::size_t count) const {
    SPECTR_CHECK(begin + count <= rows_);
    return {data_ + begin * cols_, count, cols_};
  }

 private:
  T* data_ = nullptr;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
};

}  // namespace spectr
