#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "spectr/base/thread_pool.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr {

class SharedPages;

/// A weight matrix W [rows, cols] in the layout of the product kernels.
///
/// F32, F16 and BF16 matrices borrow the bytes that they are made from, which must outlive them. Matrices of
/// quantized formats are repacked once and own their copy, which has the file's size (plus padding), except
/// for formats of at most three bits, which take up to 4.2 bits per weight (docs/kernels.md).
class Matrix {
 public:
  /// Makes W from a file's bytes, row by row. `pages`, if given, lets the copy share pages with other
  /// matrices.
  /// Requires: rows > 0, cols > 0 and a multiple of the format's elements, bytes.size() == rows · cols /
  /// elements · bytes of the format. Throws std::bad_alloc.
  static Matrix pack(TensorType type, std::size_t rows, std::size_t cols, std::span<const std::byte> bytes,
                     ThreadPool& pool, SharedPages* pages = nullptr);

  Matrix(Matrix&&) noexcept;
  Matrix& operator=(Matrix&&) noexcept;
  ~Matrix();

  std::size_t rows() const;
  std::size_t cols() const;
  TensorType type() const;
  /// Returns true if it refers to the bytes that it was made from.
  bool borrows() const;
  /// Returns the number of bytes that a product reads.
  std::size_t bytes() const;

  /// Computes out[j] = W[row][j], exactly as the file's format defines it. Requires: row < rows(), out.size()
  /// == cols().
  void row(std::size_t row, std::span<float> out) const;

  struct Packed;  // defined in the kernels' own files
  const Packed& packed() const { return *packed_; }

 private:
  explicit Matrix(std::unique_ptr<Packed> packed);
  std::unique_ptr<Packed> packed_;
};

}  // namespace spectr
