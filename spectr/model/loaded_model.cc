#include "spectr/model/loaded_model.h"

#include <utility>

#include "spectr/base/stopwatch.h"
#include "spectr/model/vocabulary_match.h"

namespace spectr {
namespace {

Result<LoadedModel> load(const std::filesystem::path& path, const Vocabulary* target, ThreadPool& pool) {
  Stopwatch watch;
  LoadedModel model;
  SPECTR_TRY(Gguf file, Gguf::open(path));
  SPECTR_TRY(model.tokenizer, Tokenizer::load(file));
  if (target != nullptr) SPECTR_TRY_VOID(same_vocabulary(*target, model.tokenizer->vocabulary()));
  SPECTR_TRY(model.transformer, Transformer::load(std::move(file), pool));
  model.seconds = watch.lap();
  return model;
}

}  // namespace

Result<LoadedModel> load_model(const std::filesystem::path& path, ThreadPool& pool) {
  return load(path, nullptr, pool);
}

Result<LoadedModel> load_draft(const std::filesystem::path& path, const Vocabulary& target,
                               ThreadPool& pool) {
  return load(path, &target, pool);
}

}  // namespace spectr
