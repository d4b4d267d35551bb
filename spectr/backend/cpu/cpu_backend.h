#pragma once

#include "spectr/base/thread_pool.h"
#include "spectr/nn/ops.h"

namespace spectr {

/// The CPU backend. All of its models share one thread pool.
class CpuBackend final : public Backend {
 public:
  /// The pool must outlive it and its models.
  explicit CpuBackend(ThreadPool& pool) : pool_(pool) {}

  const Caps& caps() const override;
  Result<std::unique_ptr<Ops>> make(const ModelSpec& spec, const KvTypes& kv) const override;

 private:
  ThreadPool& pool_;
};

}  // namespace spectr
