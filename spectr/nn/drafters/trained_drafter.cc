#include "spectr/nn/drafters/trained_drafter.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/nn/drafters/block_session.h"
#include "spectr/nn/drafters/chain_session.h"
#include "spectr/nn/drafters/drafters.h"
#include "spectr/nn/graph.h"
#include "spectr/nn/weights.h"

namespace spectr {

TrainedDrafter::TrainedDrafter(Gguf file, std::unique_ptr<const DrafterSpec> spec, const Transformer& target,
                               std::shared_ptr<const Backend> backend, std::unique_ptr<Ops> ops)
    : file_(std::move(file)),
      spec_(std::move(spec)),
      target_(target),
      reads_target_cache_(spec_->model.reads_target_cache()),
      backend_(std::move(backend)),
      ops_(std::move(ops)) {}

Result<std::unique_ptr<TrainedDrafter>> TrainedDrafter::load(Gguf file, const Transformer& target,
                                                             std::shared_ptr<const Backend> backend,
                                                             ThreadPool* pool, const Slimming& slimming) {
  SPECTR_TRY(DrafterSpec read, read_drafter_spec(file, target.spec()));
  if (!slimming.shortlist.empty() && !read.model.head.shortlist.empty()) {
    return error(ErrorCode::unsupported,
                 "{}: its head already has {} of {} tokens (tensor d2t) and cannot be shortened further",
                 file.name(), read.model.head.shortlist.size(), read.model.vocabulary);
  }
  SPECTR_TRY_VOID(slim(read.model, slimming));
  SPECTR_CHECK(target.spec().taps == read.taps);
  const KvTypes kv = default_kv(read.model);
  SPECTR_TRY_VOID(check(read.model, kv, backend->caps()));
  auto spec = std::make_unique<const DrafterSpec>(std::move(read));
  const std::string name = file.name();
  try {
    SPECTR_TRY(std::unique_ptr<Ops> ops, backend->make(spec->model, kv));
    std::unique_ptr<TrainedDrafter> drafter(
        new TrainedDrafter(std::move(file), std::move(spec), target, std::move(backend), std::move(ops)));
    if (drafter->reads_target_cache() && !target.share_caches(*drafter->ops_)) {
      return error(ErrorCode::unsupported,
                   "{}: a drafter of type {} reads the keys and values of the target {}, but runs on another "
                   "backend",
                   name, drafter->spec_->kind, target.file().name());
    }
    const Gguf* const files[] = {&drafter->file_, &target.file()};
    drafter->copies_ = upload_weights(files, drafter->spec_->model, *drafter->ops_, pool);
    SPECTR_TRY_VOID(drafter->load_markov(pool));
    return drafter;
  } catch (const std::bad_alloc&) {
    return error(ErrorCode::out_of_memory, "{}: there is no memory for the weights", name);
  }
}

const Gguf& TrainedDrafter::head_file() const {
  const ModelSpec& model = spec_->model;
  return model.weight(model.head.output.weight).of_target ? target_.file() : file_;
}

Result<void> TrainedDrafter::load_markov(ThreadPool* pool) {
  if (!spec_->block || !spec_->block->markov) return {};
  const ModelSpec& model = *spec_->block->markov;
  SPECTR_TRY_VOID(check(model, default_kv(model), backend_->caps()));
  SPECTR_TRY(markov_, backend_->make(model, default_kv(model)));
  const Gguf* const files[] = {&file_};
  for (auto& copy : upload_weights(files, model, *markov_, pool)) copies_.push_back(std::move(copy));
  markov_cache_ = markov_->open_cache({1, 1, 1});
  return {};
}

Result<HeldLogits> TrainedDrafter::markov_biases(std::span<const Token> tokens) const {
  const std::lock_guard lock(mutex_);
  markov_->reserve(tokens.size());
  markov_batch_.clear();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    markov_batch_.add_row(tokens[i], 0, markov_cache_, 0, 1, {});
    markov_batch_.wanted.push_back(static_cast<std::int32_t>(i));
  }
  return run_pass(*spec_->block->markov, markov_batch_, *markov_);
}

Result<std::unique_ptr<DrafterSession>> TrainedDrafter::follow(Session& target,
                                                               const FollowSettings& settings) const {
  FollowSettings complete = settings;
  if (complete.context == 0) complete.context = target.context();
  complete.nodes = std::max<std::size_t>(complete.nodes, 1);
  SPECTR_CHECK(target.features() != nullptr);
  if (!spec_->block && complete.block_rows > 0) {
    return error("{}: a drafter of type {} has no blocks, whose rows could be {}", file_.name(), spec_->kind,
                 complete.block_rows);
  }
  try {
    std::unique_ptr<DrafterSession> session;
    if (spec_->block) {
      session = std::make_unique<BlockSession>(*this, target, complete);
    } else {
      session = std::make_unique<ChainSession>(*this, target, complete);
    }
    target.features()->record(features());
    return session;
  } catch (const std::bad_alloc&) {
    return error(ErrorCode::out_of_memory, "{}: there is no memory for a sequence of {} tokens", file_.name(),
                 complete.context);
  }
}

std::size_t TrainedDrafter::max_depth(std::size_t block_rows) const {
  if (!spec_->block) return std::numeric_limits<std::size_t>::max();
  return (block_rows > 0 ? block_rows : spec_->block->rows) - spec_->block->first_row;
}

Result<HeldLogits> TrainedDrafter::run(Pass pass, const PassBatch& batch) const {
  const std::lock_guard lock(mutex_);
  if (reads_target_cache_) return target_.run_drafter(spec_->model, batch, *ops_);
  return pass == Pass::context ? run_context_pass(spec_->model, batch, *ops_)
                               : run_pass(spec_->model, batch, *ops_);
}

}  // namespace spectr
