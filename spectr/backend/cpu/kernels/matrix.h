#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "spectr/base/thread_pool.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr {

class SharedPages;

/// A weight matrix W [rows, cols] in the layout that multiplication wants.
///
/// Matrices of F32, F16 and BF16 borrow the bytes that they are made from, which must outlive them; those of
/// quantized formats are repacked once and own their copy. It has the file's own size (plus padding), but for
/// formats of three bits and less, which take up to 4.2 (docs/kernels.md).
class Matrix {
 public:
  /// W from its bytes as they stand in a file, row after row.
  /// Requires: rows > 0, cols > 0 and a multiple of the format's elements, bytes.size() == rows · cols /
  /// elements · bytes of the format. Throws std::bad_alloc where there is no memory for the copy.
  /// `pages`: where the copy may lie beside those of other matrices; none: by itself.
  static Matrix pack(TensorType type, std::size_t rows, std::size_t cols, std::span<const std::byte> bytes,
                     ThreadPool& pool, SharedPages* pages = nullptr);

  Matrix(Matrix&&) noexcept;
  Matrix& operator=(Matrix&&) noexcept;
  ~Matrix();

  std::size_t rows() const;
  std::size_t cols() const;
  TensorType type() const;
  /// Whether it refers to the bytes that it was made from.
  bool borrows() const;
  /// How many bytes a multiplication reads.
  std::size_t bytes() const;

  /// out[j] = W[row][j], exactly as the file's format defines it. Requires: row < rows(),
  /// out.size() == cols().
  void row(std::size_t row, std::span<float> out) const;

  struct Packed;  // defined in the kernels' own files
  const Packed& packed() const { return *packed_; }

 private:
  explicit Matrix(std::unique_ptr<Packed> packed);
  std::unique_ptr<Packed> packed_;
};

}  // namespace spectr
