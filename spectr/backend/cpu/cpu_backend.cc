#include "spectr/backend/cpu/cpu_backend.h"

#include "spectr/backend/cpu/cpu_ops.h"

namespace spectr {

const Caps& CpuBackend::caps() const {
  static const Caps caps = host_caps("cpu", all_features());
  return caps;
}

Result<std::unique_ptr<Ops>> CpuBackend::make(const ModelSpec& spec, const KvTypes& kv) const {
  return std::make_unique<CpuOps>(spec, kv, pool_);
}

}  // namespace spectr
