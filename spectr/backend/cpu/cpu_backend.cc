#include "spectr/backend/cpu/cpu_backend.h"

#include "spectr/backend/cpu/cpu_ops.h"

namespace spectr {

const Caps& CpuBackend::caps() const {
  static const Caps caps = [] {
    Caps all{"cpu", {}, {}, {}, true};
    for (const TensorFormat& format : tensor_formats()) all.formats.push_back(format.type);
    for (const KvType keys : {KvType::f32, KvType::f16}) {
      for (const KvType values : {KvType::f32, KvType::f16}) all.kv_types.push_back({keys, values});
    }
    return all;
  }();
  return caps;
}

Result<std::unique_ptr<Ops>> CpuBackend::make(const ModelSpec& spec, const KvTypes& kv) const {
  return std::make_unique<CpuOps>(spec, kv, pool_);
}

}  // namespace spectr
