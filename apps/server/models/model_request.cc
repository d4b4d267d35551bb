#include "apps/server/models/model_request.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "apps/http/target.h"
#include "apps/server/answers/responses.h"
#include "apps/server/requests/fields.h"

namespace spectr::server {
namespace {

/// Returns the name of the model in a body; empty if there is none. Ollama's clients also call it `name`.
std::string name_in(const std::string& body) {
  const JsonInput json = parse_body(body);
  Fields fields(json);
  const auto name = fields.string("model");
  return name ? *name : fields.string("name").value_or("");
}

std::string name_in(const http::Request& request) {
  if (auto name = http::query_value(request.query, "model")) return *std::move(name);
  return request.method == "POST" && !request.body.empty() ? name_in(request.body) : "";
}

ServedModels::Demand demand_of(const http::Request& request, const ModelLimits& limits) {
  const bool posts = request.method == "POST";
  const auto autoload = http::query_value(request.query, "autoload");
  const bool wanted = autoload ? *autoload == "true" || *autoload == "1" : limits.loads_on_demand;
  return {.loads = posts && wanted, .counts = posts};
}

/// Waits for a model and then answers the request with it.
class WaitingReply final : public http::Reply {
 public:
  WaitingReply(ServedModels& models, std::shared_ptr<WaitingRequest> waiting, http::Request request,
               http::Wake wake, ModelHandle handle, ErrorForm form)
      : models_(models),
        waiting_(std::move(waiting)),
        request_(std::move(request)),
        wake_(std::move(wake)),
        handle_(std::move(handle)),
        form_(std::move(form)) {}

  void advance(http::Sink& sink) override {
    if (!reply_ && !begin(sink)) return;
    reply_->advance(sink);
  }

 private:
  /// Begins to answer if the model is loaded. Returns true if there is a reply to advance.
  bool begin(http::Sink& sink) {
    try {
      const ModelLease model = models_.take(*waiting_);
      if (!model) return false;
      const auto waited = ModelRequest::Clock::now() - waiting_->arrival;
      http::Answer answer = handle_({model, request_, wake_, waiting_->arrival, waited});
      request_ = {};
      if (auto* whole = std::get_if<http::Response>(&answer)) {
        sink.send(std::move(*whole));
        return false;
      }
      reply_ = std::get<std::unique_ptr<http::Reply>>(std::move(answer));
      return true;
    } catch (const ApiError& failure) {
      sink.send(response_of(failure, form_(failure)));
      return false;
    }
  }

  ServedModels& models_;
  std::shared_ptr<WaitingRequest> waiting_;
  http::Request request_;
  http::Wake wake_;
  ModelHandle handle_;
  ErrorForm form_;
  std::unique_ptr<http::Reply> reply_;
};

void check_several(const ServedModels& models) {
  if (!models.several()) {
    throw ApiError::not_supported(
        "the server has one model; start it with --models-dir or --models-preset for several");
  }
}

}  // namespace

http::Answer with_model(ServedModels& models, const http::Request& request, const http::Wake& wake,
                        const ModelHandle& handle, const ErrorForm& form) {
  const std::string name = models.several() ? name_in(request) : "";
  auto waiting = models.ask(name, demand_of(request, models.limits()), wake);
  if (const ModelLease model = models.take(*waiting)) return handle({model, request, wake, waiting->arrival});
  return std::make_unique<WaitingReply>(models, std::move(waiting), request, wake, handle, form);
}

Json load_model(ServedModels& models, const std::string& body) {
  check_several(models);
  models.begin_load(name_in(body));
  return {{"success", true}};
}

Json unload_model(ServedModels& models, const std::string& body) {
  check_several(models);
  models.begin_unload(name_in(body));
  return {{"success", true}};
}

}  // namespace spectr::server
