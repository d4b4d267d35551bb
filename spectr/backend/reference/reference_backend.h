#pragma once

#include "spectr/nn/ops.h"

namespace spectr {

/// The twin that every backend is tested against: plain loops over unpacked weights, nothing fused, one
/// thread, every sum from left to right. Slow; for small models. Weights are what the file's formats define,
/// nothing else is rounded but to the numbers that it computes with and to the types of keys and values.
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
