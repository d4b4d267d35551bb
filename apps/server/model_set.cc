#include "apps/server/model_set.h"

#include <utility>

namespace spectr::server {
namespace {

/// For models that were not made for conversations: what was said, line by line.
constexpr std::string_view plain_text =
    "{% for message in messages %}{{ message.content }}{% if not loop.last %}{{ '\n' }}{% endif %}{% endfor "
    "%}";

}  // namespace

Result<ModelSet> ModelSet::load(const std::filesystem::path& target,
                                const std::vector<std::filesystem::path>& drafts, int threads,
                                const LoadOptions& options, std::optional<std::string> chat_template) {
  ModelSet models;
  models.pool = std::make_unique<ThreadPool>(threads);
  SPECTR_TRY(LoadedModel loaded, load_model(target, *models.pool, options));
  models.tokenizer = std::move(loaded.tokenizer);
  models.target = std::move(loaded.transformer);
  models.name = target.stem().string();
  const Gguf& file = models.target->file();
  SPECTR_TRY(const std::string_view own, file.string("tokenizer.chat_template", plain_text));
  models.template_source = chat_template.value_or(std::string(own));
  models.chat_template = jinja::Template::parse(models.template_source);
  for (const std::filesystem::path& path : drafts) {
    SPECTR_TRY(LoadedModel draft, load_draft(path, *models.target, *models.tokenizer, *models.pool, options));
    models.drafts.push_back(std::move(draft.transformer));
  }
  return models;
}

std::vector<const Transformer*> ModelSet::draft_models() const {
  std::vector<const Transformer*> models;
  for (const auto& draft : drafts) models.push_back(draft.get());
  return models;
}

}  // namespace spectr::server
