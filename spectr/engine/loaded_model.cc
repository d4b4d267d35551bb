#include "spectr/engine/loaded_model.h"

#include <utility>

#include "spectr/base/stopwatch.h"
#include "spectr/engine/backends.h"
#include "spectr/text/vocabulary_match.h"

namespace spectr {
namespace {

Result<LoadedModel> load(const std::filesystem::path& path, const Vocabulary* target, ThreadPool& pool,
                         const LoadOptions& options) {
  Stopwatch watch;
  LoadedModel model;
  SPECTR_TRY(Gguf file, Gguf::open(path));
  SPECTR_TRY(model.tokenizer, Tokenizer::load(file));
  if (target != nullptr) SPECTR_TRY_VOID(same_vocabulary(*target, model.tokenizer->vocabulary()));
  SPECTR_TRY(model.transformer,
             Transformer::load(std::move(file), backends().front().make(pool), options.kv));
  model.seconds = watch.lap();
  return model;
}

}  // namespace

Result<LoadedModel> load_model(const std::filesystem::path& path, ThreadPool& pool,
                               const LoadOptions& options) {
  return load(path, nullptr, pool, options);
}

Result<LoadedModel> load_draft(const std::filesystem::path& path, const Vocabulary& target, ThreadPool& pool,
                               const LoadOptions& options) {
  return load(path, &target, pool, options);
}

}  // namespace spectr
