#pragma once

#include <cstddef>

#include "spectr/backend/device/device.h"
#include "spectr/backend/device/weights/quantized_layout.h"
#include "spectr/gguf/tensor_type.h"

/// What kernel calls (calls.h) are about. Numbers are floats where nothing else is said.
namespace spectr::call {

/// A matrix: row r begins `stride` numbers behind row r − 1. With a stride of 0 all rows are the same.
struct Rows {
  Slice at;
  std::size_t stride = 0;
};

/// Rows quantized for products, as a QuantizedLayout says; or none.
struct QuantizedRows {
  Slice at;
  QuantizedLayout layout = {};
};

/// A matrix of weights: packed (weight_panels.h), or as it stands in the file where it is one of floats.
struct Weights {
  TensorType type;
  std::size_t rows, cols;
  Slice codes, scales = {}, factors = {};
};

}  // namespace spectr::call
