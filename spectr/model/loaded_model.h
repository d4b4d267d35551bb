#pragma once

#include <filesystem>
#include <memory>

#include "spectr/base/result.h"
#include "spectr/base/thread_pool.h"
#include "spectr/model/tokenizer.h"
#include "spectr/model/transformer.h"

namespace spectr {

/// A transformer and the tokenizer of its file.
struct LoadedModel {
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<Transformer> transformer;
  double seconds = 0.0;  ///< that loading took
};

/// The model of a GGUF file. The pool must outlive it. Error: a file that cannot be read or used, or no
/// memory for its weights.
Result<LoadedModel> load_model(const std::filesystem::path& path, ThreadPool& pool);

/// The same for a model that is to draft for one with this vocabulary. Error, too: it cannot, see
/// same_vocabulary().
Result<LoadedModel> load_draft(const std::filesystem::path& path, const Vocabulary& target, ThreadPool& pool);

}  // namespace spectr
