#include "apps/server/model_set.h"

#include <utility>

#include "spectr/model/vocabulary_match.h"

namespace spectr::server {
namespace {

/// For models that were not made for conversations: what was said, line by line.
constexpr std::string_view plain_text =
    "{% for message in messages %}{{ message.content }}{% if not loop.last %}{{ '\n' }}{% endif %}{% endfor "
    "%}";

}  // namespace

Result<ModelSet> ModelSet::load(const std::filesystem::path& target,
                                const std::vector<std::filesystem::path>& drafts, int threads,
                                std::optional<std::string> chat_template) {
  ModelSet models;
  models.pool = std::make_unique<ThreadPool>(threads);
  SPECTR_TRY(Gguf file, Gguf::open(target));
  SPECTR_TRY(models.tokenizer, Tokenizer::load(file));
  SPECTR_TRY(const std::string_view own, file.string("tokenizer.chat_template", plain_text));
  models.template_source = chat_template.value_or(std::string(own));
  models.chat_template = chat::Template::parse(models.template_source);
  models.name = target.stem().string();
  SPECTR_TRY(models.target, Transformer::load(std::move(file), *models.pool));
  for (const std::filesystem::path& path : drafts) {
    SPECTR_TRY(Gguf draft, Gguf::open(path));
    SPECTR_TRY(const auto tokenizer, Tokenizer::load(draft));
    SPECTR_TRY_VOID(same_vocabulary(models.tokenizer->vocabulary(), tokenizer->vocabulary()));
    SPECTR_TRY(auto transformer, Transformer::load(std::move(draft), *models.pool));
    models.drafts.push_back(std::move(transformer));
  }
  return models;
}

std::vector<const Transformer*> ModelSet::draft_models() const {
  std::vector<const Transformer*> models;
  for (const auto& draft : drafts) models.push_back(draft.get());
  return models;
}

}  // namespace spectr::server
