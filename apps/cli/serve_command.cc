#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <future>
#include <memory>

#include "apps/cli/arguments.h"
#include "apps/cli/commands.h"
#include "apps/cli/cost_file.h"
#include "apps/cli/failure.h"
#include "apps/cli/flag_values.h"
#include "apps/cli/method_flags.h"
#include "apps/cli/model_flags.h"
#include "apps/cli/sampling_flags.h"
#include "apps/cli/template_flags.h"
#include "apps/server/origin.h"
#include "apps/server/server.h"
#include "apps/server/tasks.h"

namespace spectr::cli {
namespace {

struct Flags {
  ModelFlags model;
  SamplingFlags sampling;
  server::ServerOptions server;
  long slots = 4;
  long queue = 64;
  long timeout = 600;
  long drain_notice = 0;
  long drain_timeout = 30;
  std::vector<std::string> keys;
  std::string key_file;
  MethodFlags method;
  long texts = 1;
  long predict = -1;
  long seed = -1;
  TemplateFlags chat_template;
  bool verbose = false;
};

/// Throws Failure where a method that was asked for cannot be had: else every request would be told.
void check_method(const MethodFlags& flags, std::size_t draft_models) {
  const MethodRule& rule = flags.rule(draft_models);
  check_drafts(rule, draft_models);
  const MethodOptions settings = flags.request.settings();
  check_settings(rule, flags.request, settings);
  tell_bias(rule, settings);
  if (rule.reads(Setting::costs)) return;
  need(server::check_block(need(make_decoder(rule, settings))));
}

server::ServerOptions complete(Flags& flags) {
  server::ServerOptions options = std::move(flags.server);
  flags.model.choose_bundled();
  options.service.target = flags.model.model;
  options.service.drafts.assign(flags.model.drafts.begin(), flags.model.drafts.end());
  options.service.costs = [file = flags.method.cost_file,
                           texts = flags.texts](const server::ModelSet& models) {
    return CostFile(file).costs(*models.target, models.draft_models(), models.pool->threads(),
                                static_cast<std::size_t>(texts));
  };
  options.service.defaults = {flags.sampling.warp().options(),
                              flags.predict < 0 ? std::nullopt : std::optional<std::size_t>(flags.predict),
                              flags.method.request,
                              flags.seed < 0 ? std::nullopt : std::optional<std::uint64_t>(flags.seed)};
  check_method(flags.method, options.service.drafts.size());
  options.service.threads = flags.model.thread_count();
  options.service.load = draft_options(flags.model, flags.method.rule(options.service.drafts.size()),
                                       CostFile(flags.method.cost_file));
  options.service.timeout = std::chrono::seconds(flags.timeout);
  options.service.slots = {static_cast<std::size_t>(flags.slots), static_cast<std::size_t>(flags.queue),
                           static_cast<std::size_t>(flags.model.context)};
  // The parser takes an empty variable for none, which would leave the server open.
  if (const char* key = std::getenv("LLAMA_API_KEY"); flags.keys.empty() && key != nullptr && *key == '\0')
    throw Failure(Status::usage, "LLAMA_API_KEY: the key is empty");
  for (const std::string& key : flags.keys) {
    if (const auto added = options.keys.add_list(key); !added)
      throw Failure(Status::usage, "--api-key: " + added.error().message);
  }
  if (!flags.key_file.empty()) need(options.keys.add_file(flags.key_file));
  options.service.chat = flags.chat_template.read();
  options.service.defaults.splits_reasoning = options.service.chat.splits_reasoning;
  return options;
}

void set_up_log(bool verbose) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("spectr"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
  spdlog::set_level(verbose ? spdlog::level::debug : spdlog::level::info);
}

/// An allowed CORS origin, as browsers write it, or * for any.
CLI::Validator origin_or_star() {
  const auto check = [](std::string& text) {
    if (text == "*" || server::is_origin(text)) return std::string();
    return fmt::format("'{}' is neither * nor an origin, as http://host or https://host:8080", text);
  };
  return {check, ""};
}

/// llama.cpp's words for a switch that the parser does not know.
std::string switch_words(std::string value) {
  if (value == "enabled") return "true";
  if (value == "disabled") return "false";
  return value;
}

/// Loads the models; a signal of `endings` ends the process at once. Throws Failure.
void load(server::Server& server, const sigset_t& endings) {
  auto loading = std::async(std::launch::async, [&server] { return server.load(); });
  constexpr timespec moment{0, 20'000'000};
  while (loading.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    if (sigtimedwait(&endings, nullptr, &moment) <= 0) continue;
    spdlog::info("stopped before the models were loaded");
    std::quick_exit(0);
  }
  need(loading.get());
}

/// Returns when a signal of `endings` comes. Throws Failure where the server ends before, or its model: then
/// it answers for some seconds that it takes no texts, so that whoever watches it sees why it goes.
void wait_for_end(server::Server& server, const sigset_t& endings) {
  constexpr timespec moment{1, 0}, farewell{3, 0};
  while (sigtimedwait(&endings, nullptr, &moment) <= 0) {
    if (!server.listening())
      throw Failure(Status::failed, fmt::format("port {} cannot be listened on any more", server.port()));
    if (const auto alive = server.check_alive(); !alive) {
      spdlog::error("{}", alive.error().message);
      sigtimedwait(&endings, nullptr, &farewell);
      throw Failure(Status::failed, alive.error().message);
    }
  }
}

void serve(Flags& flags) {
  // Every thread that is started from here on leaves these signals to this one.
  sigset_t endings;
  sigemptyset(&endings);
  sigaddset(&endings, SIGINT);
  sigaddset(&endings, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &endings, nullptr);

  set_up_log(flags.verbose);
  const server::ServerOptions options = complete(flags);
  const auto server = need(server::Server::listen(options), Status::failed);
  const std::string& host = options.http.host;
  const bool is_ipv6 = host.find(':') != std::string::npos;
  spdlog::info("listening on {}://{}:{}", options.http.certificate_file.empty() ? "http" : "https",
               is_ipv6 ? "[" + host + "]" : host, server->port());
  load(*server, endings);
  spdlog::info("ready: {}, {} slots", options.service.target.string(), options.service.slots.slots);
  wait_for_end(*server, endings);
  spdlog::info("stopping; once more ends all texts at once");
  bool hurried = false;
  const auto hurry = [&endings, &hurried] {
    constexpr timespec none{};
    return hurried = hurried || sigtimedwait(&endings, nullptr, &none) > 0;
  };
  server->announce_end(std::chrono::seconds(flags.drain_notice), hurry);
  server->stop(std::chrono::seconds(flags.drain_timeout), hurry);
}

}  // namespace

void add_serve(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App& command =
      *app.add_subcommand("serve", "Answer over HTTP, as OpenAI's API and llama.cpp's server do");
  flags->model.add_model(command, false);
  flags->model.add_drafts(command);
  flags->model.add_threads(command);
  flags->model.add_cache_types(command);
  flags->model.add_context(command);
  const std::string network = "Network", requests = "Requests";
  command.add_option("--host", flags->server.http.host, "address to listen on")
      ->envname("LLAMA_ARG_HOST")
      ->transform(not_empty("address"))
      ->capture_default_str()
      ->group(network);
  command.add_option("--port", flags->server.http.port, "port to listen on; 0: any that is free")
      ->envname("LLAMA_ARG_PORT")
      ->transform(whole(0, 65535))
      ->capture_default_str()
      ->group(network);
  repeatable(command.add_option("--api-key", flags->keys,
                                "key that clients must send, or several behind commas; repeatable"))
      ->envname("LLAMA_API_KEY")
      ->group(network);
  command.add_option("--api-key-file", flags->key_file, "file with one key a line")
      ->envname("LLAMA_ARG_API_KEY_FILE")
      ->transform(file_name())
      ->group(network);
  auto* certificate =
      command
          .add_option("--ssl-cert-file", flags->server.http.certificate_file,
                      "certificate in PEM, those that vouch for it behind it: answer over HTTPS")
          ->envname("LLAMA_ARG_SSL_CERT_FILE")
          ->transform(file_name())
          ->group(network);
  auto* key =
      command.add_option("--ssl-key-file", flags->server.http.key_file, "the certificate's key, in PEM")
          ->envname("LLAMA_ARG_SSL_KEY_FILE")
          ->transform(file_name())
          ->group(network);
  certificate->needs(key);
  key->needs(certificate);
  repeatable(command.add_option(
                 "--allowed-host", flags->server.names,
                 "name to answer to on a local address besides localhost (behind a proxy); repeatable"))
      ->group(network);
  repeatable(command.add_option("--cors", flags->server.cors, "allowed CORS origin; *: any; repeatable"))
      ->transform(origin_or_star())
      ->group(network);
  command.add_flag("--metrics", flags->server.metrics, "answer /metrics for Prometheus")
      ->envname("LLAMA_ARG_ENDPOINT_METRICS")
      ->transform(switch_words)
      ->group(network);
  command.add_flag("--verbose", flags->verbose, "log every request")->group(network);
  command.add_option("--parallel", flags->slots, "-np N: requests decoded concurrently")
      ->envname("LLAMA_ARG_N_PARALLEL")
      ->transform(whole(1, 256))
      ->capture_default_str()
      ->group(requests);
  command.add_option("--queue", flags->queue, "requests that may wait for a slot")
      ->transform(whole(0, 4096))
      ->capture_default_str()
      ->group(requests);
  command
      .add_option("--timeout", flags->timeout,
                  "-to S: seconds after which a request is cancelled, its waiting included")
      ->envname("LLAMA_ARG_TIMEOUT")
      ->transform(whole(1, 86400))
      ->capture_default_str()
      ->group(requests);
  command
      .add_option("--drain-notice", flags->drain_notice,
                  "seconds after SIGTERM in which requests are taken still, while /health answers 503")
      ->transform(whole(0, 3600))
      ->capture_default_str()
      ->group(requests);
  command
      .add_option("--drain-timeout", flags->drain_timeout,
                  "seconds for texts to end in when the server stops, before they are cancelled")
      ->transform(whole(0, 86400))
      ->capture_default_str()
      ->group(requests);
  flags->sampling.add_filters(command);
  command.add_option("-a,--alias", flags->server.service.alias, "what clients call the model")
      ->envname("LLAMA_ARG_ALIAS")
      ->group(requests);
  command
      .add_option("-n,--predict,--n-predict", flags->predict,
                  "max tokens of a completion whose request does not say; -1: until it or the context ends")
      ->envname("LLAMA_ARG_N_PREDICT")
      ->transform(whole(-1, 1L << 30))
      ->capture_default_str()
      ->group(requests);
  command
      .add_option("-s,--seed", flags->seed, "seed of a request that does not say; -1: a random one for each")
      ->transform(whole(-1))
      ->capture_default_str()
      ->group(requests);
  flags->method.add(command);
  flags->method.add_cost_file(command);
  command.add_option("--auto-texts", flags->texts, "concurrent requests that method auto assumes")
      ->transform(whole(1, 256))
      ->capture_default_str()
      ->group("Speculation");
  flags->chat_template.add(command);
  command.callback([flags, &command] {
    check_variables(command);
    serve(*flags);
  });
}

}  // namespace spectr::cli
