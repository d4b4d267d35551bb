#include "apps/server/answers/ollama_information.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "apps/server/answers/report.h"
#include "apps/server/model_facts.h"
#include "apps/server/requests/fields.h"
#include "spectr/base/version.h"

namespace spectr::server {
namespace {

/// Version of the implemented Ollama API. Its clients refuse older versions.
constexpr std::string_view ollama_version = "0.12.11";

/// Returns the default sampling parameters, one per line.
std::string parameters_of(const Service& service) {
  const Json sampling = sampling_of(service.options().defaults.sampling);
  std::string text;
  for (const auto& [name, value] : sampling.items()) text += fmt::format("{:<30} {}\n", name, text_of(value));
  return text;
}

}  // namespace

std::string timestamp() {
  return timestamp_of(std::chrono::system_clock::now());
}

Json listed_model(const ModelState& model) {
  const std::string name = name_of(*model.options);
  Json listed = {{"name", name}, {"model", name}};
  listed.update(model.lease ? model.lease->model_facts().listing
                            : listing_of(model.options->engine.models.target));
  return listed;
}

Json capabilities_of(const Service& service) {
  if (service.models().target->spec().bidirectional) return Json::array({"embedding"});
  const EngineModels& models = service.models();
  const InfillTokens& infill = models.tokenizer->vocabulary().infill();
  Json all = Json::array({"completion"});
  if (models.has_template && models.chat_template) {
    all.push_back("tools");
    const bool has_reasoning = models.template_source.contains(reasoning_form(models.template_source).open);
    if (has_reasoning) all.push_back("thinking");
  }
  if (infill.prefix && infill.suffix && infill.middle) all.push_back("insert");
  return all;
}

Json tags_json(ServedModels& models) {
  Json all = Json::array();
  for (const ModelState& model : models.states()) all.push_back(listed_model(model));
  return {{"models", std::move(all)}};
}

Json running_json(ServedModels& models) {
  Json all = Json::array();
  for (const ModelState& model : models.states()) {
    if (!model.lease) continue;
    Json listed = listed_model(model);
    listed.erase("modified_at");
    listed["expires_at"] = nullptr;  // no time is set for its unloading
    listed["size_vram"] = model.lease->models().target->caps().backend == "cpu" ? Json(0) : listed["size"];
    listed["context_length"] = model.lease->engine().context();
    all.push_back(std::move(listed));
  }
  return {{"models", std::move(all)}};
}

Json version_json() {
  return {{"version", ollama_version}, {"server", "spectr " + std::string(version())}};
}

Json show_json(const Service& service, const std::string& body) {
  const JsonInput json = parse_body(body);
  Fields fields(json);
  fields.string("model");  // may be any name
  fields.string("name");
  fields.boolean("verbose");
  fields.ignore_others();
  const ModelFacts& facts = service.model_facts();
  const Json license = facts.metadata.value("general.license", Json(nullptr));
  return {{"license", license.is_string() ? license : Json("")},
          {"modelfile", "FROM " + service.name() + "\n"},
          {"parameters", parameters_of(service)},
          {"template", service.models().template_source},
          {"details", facts.listing["details"]},
          {"model_info", facts.metadata},
          {"capabilities", capabilities_of(service)},
          {"modified_at", facts.listing["modified_at"]}};
}

Json loaded_json(const std::string& model, Api api) {
  Json answer = {{"model", model}, {"created_at", timestamp()}};
  if (api == Api::ollama_chat) {
    answer["message"] = {{"role", "assistant"}, {"content", ""}};
  } else {
    answer["response"] = "";
  }
  answer["done"] = true;
  answer["done_reason"] = "load";
  return answer;
}

}  // namespace spectr::server
