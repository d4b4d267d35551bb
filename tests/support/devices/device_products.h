#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spectr/backend/device/weights/weight_panels.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/tensor_type.h"
#include "tests/support/devices/device_numbers.h"
#include "tests/support/random_tensor.h"

// Products of a device's kernel calls, for tests of all formats and shapes.
namespace spectr::test {

/// A product: a random [rows, cols] matrix, and n rows of x.
struct ProductCase {
  TensorType type;
  std::size_t rows, cols, n;
};

inline std::string text_of(const ProductCase& c) {
  return std::string(format_of(c.type).name) + ", " + std::to_string(c.rows) + " rows, " +
         std::to_string(c.cols) + " columns, " + std::to_string(c.n) + " rows of x";
}

/// A matrix on a device: in panels, or floats as a file has them.
struct MatrixOn {
  Numbers codes, scales, factors;
  call::Weights weights;

  MatrixOn(Device& device, TensorType type, std::size_t rows, std::size_t cols, const WeightPanels& panels)
      : codes(send(device, panels.codes)),
        scales(send(device, panels.scales)),
        factors(send(device, panels.factors)),
        weights{type, rows, cols, codes.at(), scales.at(), panels.factors.empty() ? Slice() : factors.at()} {}
};

/// The operands of a product and its calls on a device.
class ProductOn {
 public:
  ProductOn(Device& device, const ProductCase& c, const WeightPanels& panels, const std::vector<float>& x)
      : device_(device),
        case_(c),
        matrix_(device, c.type, c.rows, c.cols, panels),
        x_(send(device, x)),
        quantized_(zeros(device, layout().bytes())),
        y_(send(device, std::vector<float>(device.max_parts() * c.n * stride(), 7.0f))),
        activated_(zeros(device, c.n * c.rows * sizeof(float))) {}

  call::Product product(bool may_split = false) const {
    return {{quantized_.at(), layout()}, case_.n, {{matrix_.weights, y_.rows(stride())}}, may_split};
  }

  /// Returns y, with 7 in its unused columns, and the quantized rows of x.
  std::vector<std::uint32_t> bits_of_product() {
    run(device_, quantize());
    run(device_, product());
    std::vector<std::uint32_t> all = bits(device_, y_);
    all.resize(case_.n * stride());
    const std::vector<std::uint32_t> rows = bits(device_, quantized_);
    all.insert(all.end(), rows.begin(), rows.end());
    return all;
  }

  /// Returns silu(y) of a product whose parts the activation may have to sum.
  std::vector<std::uint32_t> bits_of_split_product() {
    const call::AnyCall calls[] = {quantize(), product(true),
                                   call::Activate{.activation = Activation::silu,
                                                  .clamp = 0,
                                                  .has_gate = false,
                                                  .gate = y_.rows(stride()),
                                                  .up = y_.rows(stride()),
                                                  .out = activated_.rows(case_.rows),
                                                  .rows = case_.n,
                                                  .cols = case_.rows}};
    value_of(device_.run(calls));
    return bits(device_, activated_);
  }

 private:
  QuantizedLayout layout() const { return {case_.n, case_.cols}; }
  std::size_t stride() const { return case_.rows + 8; }
  call::Quantize quantize() const {
    return {x_.rows(case_.cols), case_.n, case_.cols, {quantized_.at(), layout()}};
  }

  Device& device_;
  ProductCase case_;
  MatrixOn matrix_;
  Numbers x_, quantized_, y_, activated_;
};

/// Returns y of a product by quantized weights, and the quantized rows.
inline std::vector<std::uint32_t> product_bits(Device& device, const ProductCase& c,
                                               const WeightPanels& panels, const std::vector<float>& x) {
  return ProductOn(device, c, panels, x).bits_of_product();
}
inline std::vector<std::uint32_t> product_bits(Device& device, const ProductCase& c) {
  const WeightPanels panels =
      pack_for_device(c.type, c.rows, c.cols, random_tensor(c.type, c.rows, c.cols, 1));
  return product_bits(device, c, panels, random_floats(c.n * c.cols, 2));
}

/// Returns y of a product by weights in floats.
inline std::vector<std::uint32_t> float_product_bits(Device& device, const ProductCase& c) {
  const Numbers weights = send(device, random_tensor(c.type, c.rows, c.cols, 1)),
                x = send(device, random_floats(c.n * c.cols, 2)),
                y = send(device, std::vector<float>(c.n * (c.rows + 3), 7.0f));
  run(device,
      call::FloatProduct{{c.type, c.rows, c.cols, weights.at()}, x.rows(c.cols), y.rows(c.rows + 3), c.n});
  return bits(device, y);
}

}  // namespace spectr::test
