#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "spectr/base/thread_pool.h"
#include "spectr/nn/ops.h"

namespace spectr {

/// A backend with its name.
struct BackendRule {
  std::string_view name;
  /// The pool must outlive it.
  std::unique_ptr<Backend> (*make)(ThreadPool& pool);
};

/// Returns all backends of this build.
std::span<const BackendRule> backends();

}  // namespace spectr
