#pragma once

#include <cstddef>

#include "spectr/backend/device/device.h"
#include "spectr/backend/device/weights/quantized_layout.h"
#include "spectr/gguf/tensor_type.h"

/// Operands of kernel calls (calls.h). Numbers are f32 unless stated otherwise.
namespace spectr::call {

/// A matrix with a row stride in numbers. Stride 0 broadcasts one row.
struct Rows {
  Slice at;
  std::size_t stride = 0;
};

/// Rows quantized for products in a QuantizedLayout; optional.
struct QuantizedRows {
  Slice at;
  QuantizedLayout layout = {};
};

/// A weight matrix: packed (weight_panels.h) if quantized, in the file's layout if floating-point.
struct Weights {
  TensorType type;
  std::size_t rows, cols;
  Slice codes, scales = {}, factors = {};
};

}  // namespace spectr::call
