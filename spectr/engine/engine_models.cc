#include "spectr/engine/engine_models.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "spectr/base/utf8.h"
#include "spectr/gguf/mapped_file.h"
#include "spectr/nn/drafters/drafters.h"

namespace spectr {
namespace {

/// Prints the messages of a conversation, one per line, for models that are not trained for conversations.
constexpr std::string_view plain_text =
    "{% for message in messages %}{{ message.content }}{% if not loop.last %}{{ '\n' }}{% endif %}{% endfor "
    "%}";

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

/// Opens the text file of a corpus. Fails if it cannot be read, is empty or is not text.
Result<std::shared_ptr<const MappedFile>> open_corpus(const std::filesystem::path& path) {
  SPECTR_TRY(auto file, MappedFile::open(path));
  const std::string_view text = text_of(*file);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0 || text[at] == '\0') {
      return error("{}: is not text: byte {} at offset {} (suffix corpus)", path.string(),
                   static_cast<unsigned char>(text[at]), at);
    }
    at += length;
  }
  return file;
}

Result<std::shared_ptr<const SuffixAutomaton>> read_corpus(const std::filesystem::path& path,
                                                           const MappedFile& file,
                                                           const Tokenizer& tokenizer) {
  const std::vector<Token> tokens = tokenizer.encode(text_of(file), {.add_bos = false});
  if (tokens.size() > SuffixAutomaton::max_tokens) {
    return error("{}: {} tokens are too many, at most {} are allowed (suffix corpus)", path.string(),
                 tokens.size(), SuffixAutomaton::max_tokens);
  }
  auto corpus = std::make_shared<SuffixAutomaton>();
  for (const Token token : tokens) corpus->append(token);
  return corpus;
}

}  // namespace

Result<std::optional<std::string>> extend_context(Transformer& model, std::size_t context) {
  if (context <= model.context()) return std::nullopt;
  std::string warning =
      fmt::format("{}: the context of {} tokens is longer than the {} that the model was trained for",
                  model.spec().file, context, model.spec().context);
  SPECTR_TRY_VOID(model.extend_context(context));
  return warning;
}

ReasoningSplit reasoning_split(const MarkedText& prompt, const EngineModels& models) {
  const ReasoningForm& form = reasoning_form(models.template_source);
  return {&form, begun_answer(prompt, form)};
}

Result<std::string> chat_template_source(const Gguf& file, const ChatOptions& chat) {
  if (chat.source) return *chat.source;
  SPECTR_TRY(const std::string_view own, file.string("tokenizer.chat_template", plain_text));
  return std::string(own);
}

Result<EngineModels> EngineModels::load(const ModelOptions& options) {
  EngineModels models;
  std::shared_ptr<const MappedFile> corpus;
  if (!options.suffix_corpus.empty()) {
    SPECTR_TRY(corpus, open_corpus(options.suffix_corpus));
  }
  models.pool = std::make_unique<ThreadPool>(options.threads);
  SPECTR_TRY(std::optional<DrafterFile> trained, find_trained_drafter(options.target, options.drafts));
  LoadOptions load = options.load;
  if (trained) {
    SPECTR_TRY(load.taps, taps_of(trained->file));
  }
  SPECTR_TRY(LoadedModel loaded, load_model(options.target, *models.pool, load));
  models.tokenizer = std::move(loaded.tokenizer);
  models.target = std::move(loaded.transformer);
  models.ranks = std::move(loaded.ranks);
  models.load_seconds.push_back(loaded.seconds);
  models.path = options.target.string();
  const ChatOptions& chat = options.chat;
  SPECTR_TRY(models.template_source, chat_template_source(models.target->file(), chat));
  models.chat_template =
      ChatTemplate::make(models.template_source, models.tokenizer->vocabulary(), chat.rendering);
  if (chat.source && !models.chat_template) return std::unexpected(models.chat_template.error());
  models.has_template = chat.source || models.target->file().find("tokenizer.chat_template") != nullptr;
  models.splits_reasoning = chat.splits_reasoning;
  if (trained) {
    SPECTR_TRY(models.trained, load_trained_drafter(std::move(trained->file), *models.target,
                                                    *models.tokenizer, *models.pool, load));
  }
  for (const std::filesystem::path& path : options.drafts) {
    if (trained && path == trained->path) continue;
    SPECTR_TRY(LoadedModel draft, load_draft(path, *models.target, *models.tokenizer, *models.pool, load));
    models.load_seconds.push_back(draft.seconds);
    models.drafts.push_back(std::move(draft.transformer));
  }
  if (corpus) {
    SPECTR_TRY(models.corpus, read_corpus(options.suffix_corpus, *corpus, *models.tokenizer));
  }
  const auto& warnings = models.tokenizer->vocabulary().warnings();
  models.warnings.assign(warnings.begin(), warnings.end());
  SPECTR_TRY(std::optional<std::string> warning, extend_context(*models.target, options.context));
  if (warning) models.warnings.push_back(*std::move(warning));
  models.context = options.context == 0 ? models.target->context() : options.context;
  return models;
}

std::vector<const Transformer*> EngineModels::draft_models() const {
  std::vector<const Transformer*> models;
  for (const auto& draft : drafts) models.push_back(draft.get());
  return models;
}

Result<void> EngineModels::check_alive() const {
  SPECTR_TRY_VOID(target->check_alive());
  for (const auto& draft : drafts) SPECTR_TRY_VOID(draft->check_alive());
  return {};
}

}  // namespace spectr
