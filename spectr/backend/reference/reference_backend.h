#pragma once

#include "spectr/nn/ops.h"

namespace spectr {

/// The reference implementation that all backends are tested against: plain loops over dequantized weights,
/// without fusion, single-threaded, with sums from left to right. Slow; for small models. Nothing is rounded
/// except to the precision of computation and to the KV types.
class ReferenceBackend final : public Backend {
 public:
  enum class Precision { f32, f64 };
  explicit ReferenceBackend(Precision precision = Precision::f64) : precision_(precision) {}

  const Caps& caps() const override;
  Result<std::unique_ptr<Ops>> make(const ModelSpec& spec, const KvTypes& kv) const override;

 private:
  Precision precision_;
};

}  // namespace spectr
