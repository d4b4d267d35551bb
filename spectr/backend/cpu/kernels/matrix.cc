#include "spectr/backend/cpu/kernels/matrix.h"

#include <utility>

#include "spectr/backend/cpu/kernels/panels.h"
#include "spectr/base/check.h"
#include "spectr/gguf/dequantize.h"

namespace spectr {

Matrix Matrix::pack(TensorType type, std::size_t rows, std::size_t cols, std::span<const std::byte> bytes,
                    ThreadPool& pool, SharedPages* pages) {
  const TensorFormat& format = format_of(type);
  SPECTR_CHECK(rows > 0 && cols > 0 && cols % format.elements == 0);
  SPECTR_CHECK(bytes.size() == rows * (cols / format.elements) * format.bytes);
  auto packed = std::make_unique<Packed>(
      Packed{.type = type, .rows = rows, .cols = cols, .file = {}, .shape = {}, .panels = {}});
  if (const auto layout = quant_layout(type)) {
    packed->shape = {*layout, cols / static_cast<std::size_t>(layout->columns)};
    packed->panels = pack_panels(type, packed->shape, rows, bytes, pool, pages);
  } else {
    packed->file = bytes;
  }
  return Matrix(std::move(packed));
}

Matrix::Matrix(std::unique_ptr<Packed> packed) : packed_(std::move(packed)) {}
Matrix::Matrix(Matrix&&) noexcept = default;
Matrix& Matrix::operator=(Matrix&&) noexcept = default;
Matrix::~Matrix() = default;

std::size_t Matrix::rows() const {
  return packed_->rows;
}
std::size_t Matrix::cols() const {
  return packed_->cols;
}
TensorType Matrix::type() const {
  return packed_->type;
}

bool Matrix::borrows() const {
  return !packed_->panels;
}

std::size_t Matrix::bytes() const {
  return packed_->panels ? packed_->panel_count() * packed_->shape.panel_bytes() : packed_->file.size();
}

void Matrix::row(std::size_t row, std::span<float> out) const {
  SPECTR_CHECK(row < rows() && out.size() == cols());
  if (!packed_->panels) {
    const std::size_t row_bytes = packed_->file.size() / rows();
    return dequantize(type(), packed_->file.subspan(row * row_bytes, row_bytes), out);
  }
  const PanelShape& shape = packed_->shape;
  QuantBlock block{};
  for (std::size_t i = 0; i < shape.super_blocks; ++i) {
    read_super_block(shape, packed_->panel(row / panel_rows), static_cast<int>(row % panel_rows), i, block);
    block_values(type(), block, out.data() + i * static_cast<std::size_t>(shape.layout.columns));
  }
}

}  // namespace spectr
