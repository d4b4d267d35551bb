// Kernels of recurrent states, compiled once per instruction set. Names follow Highway's convention; `d` is a
// vector tag, see vector_loops-inl.h.
#include <cstddef>
#include <span>

// Highway's include guard, which permits one inclusion per target.
#if defined(SPECTR_STATE_OPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECTR_STATE_OPS_INL
#undef SPECTR_STATE_OPS_INL
#else
#define SPECTR_STATE_OPS_INL
#endif

#include <hwy/highway.h>

#include "spectr/base/vector_loops-inl.h"

// Names follow Highway's convention.
// NOLINTBEGIN(readability-identifier-naming,modernize-concat-nested-namespaces,misc-definitions-in-headers)
HWY_BEFORE_NAMESPACE();
namespace spectr {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void TwoProducts(const float* m, std::span<const float> a, const float* b, std::span<float> y, float* z) {
  const std::size_t cols = a.size();
  for (std::size_t i = 0; i < y.size(); ++i, m += cols) {
    y[i] = Sum(cols, [&](auto d, std::size_t j)
                         HWY_ATTR { return hn::Mul(hn::LoadU(d, m + j), hn::LoadU(d, a.data() + j)); });
    z[i] = Sum(cols, [&](auto d, std::size_t j)
                         HWY_ATTR { return hn::Mul(hn::LoadU(d, m + j), hn::LoadU(d, b + j)); });
  }
}

void AddScaled(std::span<float> y, float factor, const float* x) {
  ForEach(y.size(), [&](auto d, std::size_t j) HWY_ATTR {
    const auto term = hn::Mul(hn::Set(d, factor), hn::LoadU(d, x + j));
    hn::StoreU(hn::Add(hn::LoadU(d, y.data() + j), term), d, y.data() + j);
  });
}

void AddOuterProduct(std::span<float> m, std::span<const float> u, std::span<const float> k) {
  for (std::size_t i = 0; i < u.size(); ++i) AddScaled(m.subspan(i * k.size(), k.size()), u[i], k.data());
}

void Scale(std::span<float> x, float factor) {
  ForEach(x.size(), [&](auto d, std::size_t j) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(d, x.data() + j), hn::Set(d, factor)), d, x.data() + j);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace spectr
HWY_AFTER_NAMESPACE();
// NOLINTEND(readability-identifier-naming,modernize-concat-nested-namespaces,misc-definitions-in-headers)

#endif  // SPECTR_STATE_OPS_INL
