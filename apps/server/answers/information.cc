#include "apps/server/answers/information.h"

#include "apps/server/answers/ollama_information.h"
#include "apps/server/answers/report.h"
#include "apps/server/api_error.h"
#include "apps/server/requests/chat_prompt.h"
#include "apps/server/requests/engine_request.h"
#include "apps/server/requests/fields.h"
#include "apps/server/requests/foreign_fields.h"
#include "spectr/base/version.h"
#include "spectr/transport/plans.h"

namespace spectr::server {
namespace {

/// Maximum number of pieces returned for one text, which bounds the memory of an answer.
constexpr std::size_t max_pieces = 1 << 16;

std::string_view name(ModelStatus status) {
  switch (status) {
    case ModelStatus::unloaded:
      return "unloaded";
    case ModelStatus::loading:
      return "loading";
    case ModelStatus::loaded:
      return "loaded";
    case ModelStatus::unloading:
      break;
  }
  return "unloading";
}

/// Describes one of several models by llama.cpp's fields.
Json describe_choice(const ModelState& model) {
  Json status = {{"value", name(model.status)}};
  if (model.failure) {
    status["failed"] = true;
    status["exit_code"] = 1;  // of llama.cpp's process
    status["error"] = model.failure->message;
  }
  const Json text = Json::array({"text"});
  return {{"path", model.options->engine.models.target.string()},
          {"source", model.options->source},
          {"can_remove", false},
          {"status", std::move(status)},
          {"architecture", {{"input_modalities", text}, {"output_modalities", text}}}};
}

Json describe(const ModelState& model, bool several) {
  Json entry = {{"id", name_of(*model.options)},
                {"aliases", model.options->aliases},
                {"object", "model"},
                {"created", 0},
                {"owned_by", "spectr"}};
  if (several) entry.update(describe_choice(model));
  if (!model.lease) return entry;
  const ModelSpec& spec = model.lease->models().target->spec();
  entry["meta"] = {{"n_vocab", spec.vocabulary}, {"n_ctx_train", spec.context}, {"n_embd", spec.width}};
  return entry;
}

Json defaults_of(const Service& service) {
  const RequestDefaults& defaults = service.options().defaults;
  Json params = sampling_of(defaults.sampling);
  params["n_predict"] = defaults.limit ? Json(*defaults.limit) : Json(-1);
  if (defaults.seed) params["seed"] = *defaults.seed;
  if (const auto method =
          defaults.speculative.rule(service.models().draft_count(), service.engine().costs() != nullptr))
    params["speculative"] = speculation_settings(**method, defaults.speculative.settings());
  return params;
}

/// Returns the tokens of the prompt of a conversation.
std::size_t prompt_length(const Service& service, const std::string& body, Api api) {
  const auto request = GenerationRequest::read(parse_body(body), api, service.options().defaults);
  const MarkedText prompt = chat_prompt(request.chat, service.models().chat_template);
  return service.models().tokenizer->encode(prompt, true).size();
}

}  // namespace

Json model_json(ServedModels& models, const std::string& name) {
  return describe(models.state(name), models.several());
}

Json models_json(ServedModels& models) {
  Json data = Json::array(), listing = Json::array();
  for (const ModelState& model : models.states()) {
    data.push_back(describe(model, models.several()));
    Json listed = listed_model(model);
    listed["type"] = "model";
    if (model.lease) listed["capabilities"] = capabilities_of(*model.lease);
    listing.push_back(std::move(listed));
  }
  // The second list is for other clients.
  return {{"object", "list"}, {"data", std::move(data)}, {"models", std::move(listing)}};
}

Json router_json(const ServedModels& models) {
  return {{"role", "router"},
          {"max_instances", models.limits().max_loaded},
          {"models_autoload", models.limits().loads_on_demand},
          {"model_alias", "spectr"},
          {"model_path", "none"},
          {"default_generation_settings", {{"params", Json::object()}, {"n_ctx", 0}}},
          {"build_info", "spectr " + std::string(version())}};
}

Json props_json(const Service& service) {
  const EngineModels& models = service.models();
  const bool knows_costs = service.engine().costs() != nullptr;
  Json methods = Json::array(), plans = Json::array();
  for (const MethodRule& method : method_rules()) {
    if (method.reads(Setting::costs) && !knows_costs) continue;
    if (models.draft_count() < method.models.min) continue;
    methods.push_back({{"name", method.name},
                       {"summary", method.summary},
                       {"lossless", method.lossless},
                       {"plan", method.plan},
                       {"drafts", method.models.max > 0}});
  }
  for (const PlanRule& plan : plan_rules()) plans.push_back(plan.name);
  const Vocabulary& vocabulary = models.tokenizer->vocabulary();
  const auto text = [&](std::optional<Token> token) { return token ? vocabulary.text(*token) : ""; };
  return {{"model", service.name()},
          {"model_path", models.path},
          {"n_ctx", service.engine().context()},
          {"n_ctx_train", models.target->spec().context},
          {"default_generation_settings",
           {{"n_ctx", service.engine().context()}, {"params", defaults_of(service)}}},
          {"total_slots", service.engine().slots().states().size()},
          {"chat_template", models.template_source},
          {"has_chat_template", models.has_template},
          {"bos_token", text(vocabulary.bos())},
          {"eos_token", text(vocabulary.eos())},
          {"modalities", {{"vision", false}, {"audio", false}}},
          {"draft_models", models.draft_count()},
          {"methods", methods},
          {"plans", plans},
          {"build_info", "spectr " + std::string(version())}};
}

Json slots_json(const Service& service) {
  Json all = Json::array();
  for (const SlotState& state : service.engine().slots().states()) {
    Json slot = {{"id", all.size()}, {"n_ctx", service.engine().context()}, {"is_processing", state.busy}};
    if (state.busy) {
      slot["prompt_tokens"] = state.prompt;
      slot["method"] = state.method->name;
    }
    all.push_back(std::move(slot));
  }
  return all;
}

Json tokenize(const Service& service, const std::string& body) {
  const JsonInput json = parse_body(body);
  Fields fields(json);
  fields.string("model");  // may be any name
  const auto content = fields.string("content");
  if (!content) throw ApiError::invalid("'content' is missing");
  const bool special = fields.boolean("add_special").value_or(false);
  const TokenizeOptions options{special, fields.boolean("parse_special").value_or(true), special};
  const bool pieces = fields.boolean("with_pieces").value_or(false);
  fields.ignore_others();
  const Tokenizer& tokenizer = *service.models().tokenizer;
  const std::vector<Token> tokens = tokenizer.encode(*content, options);
  if (!pieces) return {{"tokens", tokens}};
  if (tokens.size() > max_pieces) {
    throw ApiError::invalid(
        fmt::format("'with_pieces' is for {} tokens at most, 'content' has {}", max_pieces, tokens.size()));
  }
  Json all = Json::array();
  for (const Token token : tokens) {
    const std::string piece = tokenizer.piece(token);
    all.push_back({{"id", token}, {"piece", is_text(piece) ? Json(piece) : bytes_of(piece)}});
  }
  return {{"tokens", all}};
}

Json detokenize(const Service& service, const std::string& body) {
  const JsonInput json = parse_body(body);
  Fields fields(json);
  fields.string("model");  // may be any name
  const JsonInput* list = fields.any("tokens");
  if (list == nullptr || !list->is_array()) throw ApiError::invalid("'tokens' must be a list of ids");
  fields.ignore_others();
  const Tokenizer& tokenizer = *service.models().tokenizer;
  return {{"content", tokenizer.decode(read_tokens(*list, tokenizer.vocabulary(), "tokens"))}};
}

Json apply_template(const Service& service, const std::string& body) {
  const JsonInput json = parse_body(body);
  Fields fields(json);
  const ChatRequest request = ChatRequest::read(fields);
  fields.string("model");  // may be any name
  read_foreign_fields(fields);
  fields.ignore_others();
  return {{"prompt", chat_prompt(request, service.models().chat_template).bytes()}};
}

Json count_input_tokens(const Service& service, const std::string& body) {
  return {{"object", "response.input_tokens"}, {"input_tokens", prompt_length(service, body, Api::chat)}};
}

Json count_message_tokens(const Service& service, const std::string& body) {
  return {{"input_tokens", prompt_length(service, body, Api::messages)}};
}

}  // namespace spectr::server
