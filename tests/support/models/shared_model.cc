#include "tests/support/models/shared_model.h"

#include <chrono>
#include <new>
#include <utility>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/sharded/follower.h"
#include "spectr/backend/sharded/thread_communicator.h"
#include "spectr/nn/arch/architectures.h"
#include "tests/support/data.h"
#include "tests/support/models/model_course.h"

namespace spectr::test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::unique_ptr<Backend> cpu_backend(ThreadPool& pool) {
  return std::make_unique<CpuBackend>(pool);
}

std::vector<fs::path> shareable_models(Split split) {
  std::vector<fs::path> found;
  for (const fs::path& path : course_models()) {
    ModelSpec spec = read_model_spec(Gguf::open(path).value()).value();
    if (take_part(spec, {0, 2}, split)) found.push_back(path);
  }
  return found;
}

fs::path stories() {
  return source_folder() / "models/spectr-stories-7m-f16.gguf";
}

SharedModel::SharedModel(const fs::path& path, std::size_t ranks, const KvChoice& kv, const MakeBackend& make,
                         const fs::path& others, Split split)
    : communicators_(thread_communicators(ranks, 20s)) {
  for (std::size_t rank = 1; rank < ranks; ++rank) {
    threads_.emplace_back([this, rank, make, theirs = others.empty() ? path : others] {
      ThreadPool pool(1);
      const std::unique_ptr<Communicator> mine = std::move(communicators_[rank]);
      try {
        (void)follow(*mine, *make(pool), [&] { return Gguf::open(theirs); }, nullptr);
      } catch (const std::bad_alloc&) {
        return;  // the leader detects this
      }
    });
  }
  backend_ = std::make_shared<ShardedBackend>(make(pool_), *communicators_.front(), split, ranks);
  outcome_ = load(path, kv);
}

SharedModel::~SharedModel() {
  model_.reset();
  backend_.reset();
  communicators_.front().reset();
  for (std::thread& thread : threads_) thread.join();
}

Result<void> SharedModel::load(const fs::path& path, const KvChoice& kv) {
  SPECTR_TRY(Gguf file, Gguf::open(path));
  SPECTR_TRY_VOID(backend_->call(file, kv, {}));
  SPECTR_TRY(model_, Transformer::load(std::move(file), backend_, {.kv = kv}));
  return backend_->all_loaded();
}

}  // namespace spectr::test
