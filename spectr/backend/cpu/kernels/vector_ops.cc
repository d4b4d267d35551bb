#include "spectr/backend/cpu/kernels/vector_ops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "spectr/backend/cpu/kernels/vector_ops-inl.h"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h, which compiles this file once per instruction set.
#include "spectr/backend/cpu/kernels/vector_ops-inl.h"
#include "spectr/base/check.h"

namespace spectr {

HWY_EXPORT(RmsNorm);
HWY_EXPORT(LayerNorm);
HWY_EXPORT(Add);
HWY_EXPORT(SwiGlu);
HWY_EXPORT(ClampedSwiGlu);
HWY_EXPORT(MultiplyBySigmoid);
HWY_EXPORT(GeluTanh);
HWY_EXPORT(Gelu);
HWY_EXPORT(Dot);
HWY_EXPORT(Softmax);
HWY_EXPORT(RoundToF16);
HWY_EXPORT(Rope);
HWY_EXPORT(SoftCap);

void rms_norm(std::span<const float> x, std::span<const float> weight, float epsilon, std::span<float> out) {
  SPECTR_CHECK(weight.size() == x.size() && out.size() == x.size());
  HWY_DYNAMIC_DISPATCH(RmsNorm)(x, weight.data(), epsilon, out.data());
}

void layer_norm(std::span<const float> x, std::span<const float> weight, std::span<const float> bias,
                float epsilon, std::span<float> out) {
  SPECTR_CHECK(weight.size() == x.size() && bias.size() == x.size() && out.size() == x.size());
  HWY_DYNAMIC_DISPATCH(LayerNorm)(x, weight.data(), bias.data(), epsilon, out.data());
}

void add(std::span<float> x, std::span<const float> y) {
  SPECTR_CHECK(y.size() == x.size());
  HWY_DYNAMIC_DISPATCH(Add)(x, y.data());
}

void swiglu(std::span<float> gate, std::span<const float> up) {
  SPECTR_CHECK(up.size() == gate.size());
  HWY_DYNAMIC_DISPATCH(SwiGlu)(gate, up.data());
}

void clamped_swiglu(std::span<float> gate, std::span<const float> up, float clamp) {
  SPECTR_CHECK(up.size() == gate.size());
  HWY_DYNAMIC_DISPATCH(ClampedSwiGlu)(gate, up.data(), clamp);
}

void multiply_by_sigmoid(std::span<float> x, std::span<const float> gate) {
  SPECTR_CHECK(gate.size() == x.size());
  HWY_DYNAMIC_DISPATCH(MultiplyBySigmoid)(x, gate.data());
}

void gelu_tanh(std::span<float> x) {
  HWY_DYNAMIC_DISPATCH(GeluTanh)(x);
}

void gelu(std::span<float> x) {
  HWY_DYNAMIC_DISPATCH(Gelu)(x);
}

void soft_cap(std::span<float> x, float cap) {
  SPECTR_CHECK(cap > 0.0f);
  HWY_DYNAMIC_DISPATCH(SoftCap)(x, cap);
}

float dot(std::span<const float> x, std::span<const float> y) {
  SPECTR_CHECK(y.size() == x.size());
  return HWY_DYNAMIC_DISPATCH(Dot)(x, y.data());
}

void softmax(std::span<float> x) {
  SPECTR_CHECK(!x.empty());
  HWY_DYNAMIC_DISPATCH(Softmax)(x);
}

void round_to_f16(std::span<const float> x, std::span<F16> out) {
  SPECTR_CHECK(out.size() == x.size());
  HWY_DYNAMIC_DISPATCH(RoundToF16)(x, out.data());
}

void rope(std::span<float> x, std::span<const float> cosines, std::span<const float> sines,
          bool interleaved) {
  SPECTR_CHECK(sines.size() == cosines.size() && 2 * cosines.size() <= x.size());
  HWY_DYNAMIC_DISPATCH(Rope)(x.data(), cosines, sines.data(), interleaved);
}

}  // namespace spectr
