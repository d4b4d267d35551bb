#pragma once

// Products by head: panel_product.cuh and float_product.cuh, with a separate matrix and separate columns of x
// for each head.

#include "spectr/backend/cuda/kernels/float_product.cuh"
#include "spectr/backend/cuda/kernels/panel_product.cuh"

namespace spectr::cuda {

SPECTR_DEVICE QuantizedRows behind(QuantizedRows rows, long bytes) {
  rows.codes += bytes;
  rows.scales += bytes / 4;
  rows.sums += bytes / 4;
  return rows;
}

/// Grid: (rows, heads · columns / 512).
struct QuantizeHeadsKernel {
  static SPECTR_DEVICE void run(const QuantizeHeads& p) {
    const int head = group_y() / p.groups;
    Quantize one = p.first;
    one.in.at += head * p.in_head_stride;
    one.out = behind(one.out, head * p.out_head_stride);
    QuantizeKernel::run(one, group_y() % p.groups);
  }
};

/// Grid: (heads · rows / 16, rows of x / together).
template <int together>
struct HeadProductsKernel {
  static SPECTR_DEVICE void run(const HeadProducts& p) {
    const int head = group_x() / p.groups;
    AnyProduct one = p.first;
    one.w.codes += head * p.codes_head_stride;
    one.w.scales += head * (p.scales_head_stride / 4);
    one.w.factors += head * (p.factors_head_stride / 4);  // strides are 0 if there are no factors
    one.x = behind(one.x, head * p.x_head_stride);
    one.y.at += head * p.y_head_stride;
    AnyProductKernel<together>::run(one, group_x() % p.groups);
  }
};

/// Grid: (heads · rows / 4, rows of x).
struct FloatHeadProductsKernel {
  static SPECTR_DEVICE void run(const FloatHeadProducts& p) {
    const int head = group_x() / p.groups;
    FloatProduct one = p.first;
    one.weights += head * p.weights_head_stride;
    one.x.at += head * p.x_head_stride;
    one.y.at += head * p.y_head_stride;
    FloatProductKernel::run(one, group_x() % p.groups);
  }
};

}  // namespace spectr::cuda
