#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "spectr/backend/sharded/sharded_backend.h"
#include "spectr/base/thread_pool.h"
#include "spectr/nn/transformer.h"

namespace spectr::test {

using MakeBackend = std::function<std::unique_ptr<Backend>(ThreadPool&)>;

std::unique_ptr<Backend> cpu_backend(ThreadPool& pool);

/// Returns all committed models that two ranks can share.
std::vector<std::filesystem::path> shareable_models(Split split);
/// Returns a bundled model that even three ranks can share.
std::filesystem::path stories();

constexpr KvChoice float_kv{KvType::f32, KvType::f32};

/// A model shared by `ranks` ranks, each on its own thread. `others` is the path that the ranks other
/// than the leader open, if it differs.
class SharedModel {
 public:
  SharedModel(const std::filesystem::path& path, std::size_t ranks, const KvChoice& kv = {},
              const MakeBackend& make = cpu_backend, const std::filesystem::path& others = {},
              Split split = Split::rows);
  ~SharedModel();
  SharedModel(const SharedModel&) = delete;
  SharedModel& operator=(const SharedModel&) = delete;

  /// Returns the result of loading.
  const Result<void>& outcome() const { return outcome_; }
  const Transformer& model() const { return *model_; }
  ShardedBackend& backend() const { return *backend_; }

 private:
  Result<void> load(const std::filesystem::path& path, const KvChoice& kv);

  ThreadPool pool_{1};
  std::vector<std::unique_ptr<Communicator>> communicators_;
  std::vector<std::thread> threads_;
  std::shared_ptr<ShardedBackend> backend_;
  std::unique_ptr<Transformer> model_;
  Result<void> outcome_;
};

}  // namespace spectr::test
