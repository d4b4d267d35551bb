#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/cli/commands/commands.h"
#include "apps/cli/report/output.h"
#include "spectr/base/names.h"
#include "spectr/engine/model_caches.h"

namespace spectr::cli {
namespace {

/// Returns the argument of -hf that identifies this file uniquely.
std::string reference(const CachedModel& model) {
  if (model.repository.empty()) return model.file;
  const std::string quantisation = quantisation_of(model.file);
  return quantisation.empty() ? model.repository : model.repository + ":" + quantisation;
}

void print(const std::vector<CachedModel>& models) {
  std::size_t width = 5;
  for (const CachedModel& model : models) width = std::max(width, escape(reference(model), 200).size());
  fmt::print("{:<{}}  {:>9}  file\n", "model", width, "size");
  for (const CachedModel& model : models) {
    fmt::print("{:<{}}  {:>6.2f} GB  {}\n", escape(reference(model), 200), width,
               static_cast<double>(model.bytes) * 1e-9, escape(model.path.string(), 4096));
  }
}

}  // namespace

void add_models(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  CLI::App& command =
      *app.add_subcommand("models", "The models in the caches of Hugging Face's tools and of llama.cpp");
  command.add_flag("--json", *json, "print {\"models\": [{repository, file, path, bytes}, ...]}");
  command.callback([json] {
    const std::vector<CachedModel> models = ModelCaches::of_the_environment().list();
    if (!*json) return print(models);
    Json list = Json::array();
    for (const CachedModel& model : models) {
      list.push_back({{"repository", model.repository.empty() ? Json() : Json(model.repository)},
                      {"file", model.file},
                      {"path", model.path.string()},
                      {"bytes", model.bytes}});
    }
    print_json({{"models", std::move(list)}});
  });
}

}  // namespace spectr::cli
