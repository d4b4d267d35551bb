#include "apps/server/model_set.h"

#include <utility>

namespace spectr::server {
namespace {

/// For models that were not made for conversations: what was said, line by line.
constexpr std::string_view plain_text =
    "{% for message in messages %}{{ message.content }}{% if not loop.last %}{{ '\n' }}{% endif %}{% endfor "
    "%}";

}  // namespace

Result<std::string> chat_template_source(const Gguf& file, const ChatOptions& chat) {
  if (chat.source) return *chat.source;
  SPECTR_TRY(const std::string_view own, file.string("tokenizer.chat_template", plain_text));
  return std::string(own);
}

std::string longer_than_trained(const Transformer& model, std::size_t context) {
  return fmt::format("{}: the context of {} tokens is longer than the {} that the model was trained for",
                     model.spec().file, context, model.spec().context);
}

Result<ModelSet> ModelSet::load(const std::filesystem::path& target,
                                const std::vector<std::filesystem::path>& drafts, int threads,
                                const LoadOptions& options, const ChatOptions& chat) {
  ModelSet models;
  models.pool = std::make_unique<ThreadPool>(threads);
  SPECTR_TRY(LoadedModel loaded, load_model(target, *models.pool, options));
  models.tokenizer = std::move(loaded.tokenizer);
  models.target = std::move(loaded.transformer);
  models.name = target.stem().string();
  SPECTR_TRY(models.template_source, chat_template_source(models.target->file(), chat));
  models.chat_template =
      ChatTemplate::make(models.template_source, models.tokenizer->vocabulary(), chat.rendering());
  models.has_template = chat.source || models.target->file().find("tokenizer.chat_template") != nullptr;
  if (chat.source && !models.chat_template) return std::unexpected(models.chat_template.error());
  models.path = target.string();
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
