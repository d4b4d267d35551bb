#include "spectr/backend/cpu/kernels/state_ops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "spectr/backend/cpu/kernels/state_ops-inl.h"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h, which compiles this file once per instruction set.
#include "spectr/backend/cpu/kernels/state_ops-inl.h"
#include "spectr/base/check.h"

namespace spectr {

HWY_EXPORT(TwoProducts);
HWY_EXPORT(AddOuterProduct);
HWY_EXPORT(AddScaled);
HWY_EXPORT(Scale);

void two_products(std::span<const float> m, std::span<const float> a, std::span<const float> b,
                  std::span<float> y, std::span<float> z) {
  SPECTR_CHECK(m.size() == a.size() * y.size() && b.size() == a.size() && z.size() == y.size());
  HWY_DYNAMIC_DISPATCH(TwoProducts)(m.data(), a, b.data(), y, z.data());
}

void add_outer_product(std::span<float> m, std::span<const float> u, std::span<const float> k) {
  SPECTR_CHECK(m.size() == u.size() * k.size());
  HWY_DYNAMIC_DISPATCH(AddOuterProduct)(m, u, k);
}

void add_scaled(std::span<float> y, float factor, std::span<const float> x) {
  SPECTR_CHECK(x.size() == y.size());
  HWY_DYNAMIC_DISPATCH(AddScaled)(y, factor, x.data());
}

void scale(std::span<float> x, float factor) {
  HWY_DYNAMIC_DISPATCH(Scale)(x, factor);
}

}  // namespace spectr
