#include "spectr/engine/backends.h"

#include "spectr/backend/cpu/cpu_backend.h"

namespace spectr {
namespace {

template <class T>
std::unique_ptr<Backend> make(ThreadPool& pool) {
  return std::make_unique<T>(pool);
}

constexpr BackendRule rules[] = {{"cpu", make<CpuBackend>}};

}  // namespace

std::span<const BackendRule> backends() {
  return rules;
}

}  // namespace spectr
