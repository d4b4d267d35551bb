#pragma once

#include <memory>
#include <tuple>
#include <utility>

#include "spectr/nn/forwarding_ops.h"

namespace spectr::test {

/// A backend whose operations are wrapped in a T, which is constructed from them and `args`.
template <class T, class... Args>
class WrappingBackend final : public Backend {
 public:
  WrappingBackend(std::unique_ptr<Backend> backend, Args... args)
      : backend_(std::move(backend)), args_(args...) {}
  const Caps& caps() const override { return backend_->caps(); }
  Result<std::unique_ptr<Ops>> make(const ModelSpec& spec, const KvTypes& kv) const override {
    SPECTR_TRY(std::unique_ptr<Ops> ops, backend_->make(spec, kv));
    return std::apply(
        [&](const Args&... args) -> std::unique_ptr<Ops> {
          return std::make_unique<T>(std::move(ops), args...);
        },
        args_);
  }

 private:
  std::unique_ptr<Backend> backend_;
  std::tuple<Args...> args_;
};

}  // namespace spectr::test
