#include "spectr/backend/cpu/cpu_backend.h"

#include "spectr/backend/cpu/cpu_ops.h"

namespace spectr {

const Caps& CpuBackend::caps() const {
  static const Caps caps =
      host_caps("cpu", {Feature::embedding_scale, Feature::residual_scale, Feature::logit_scale,
                        Feature::whole_vector_norms, Feature::shortlist, Feature::experts,
                        Feature::sliding_window, Feature::score_cap, Feature::logit_cap});
  return caps;
}

Result<std::unique_ptr<Ops>> CpuBackend::make(const ModelSpec& spec, const KvTypes& kv) const {
  return std::make_unique<CpuOps>(spec, kv, pool_);
}

}  // namespace spectr
