#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <future>
#include <memory>

#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/arguments.h"
#include "apps/cli/flags/embedding_flags.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/method_flags.h"
#include "apps/cli/flags/model_flags.h"
#include "apps/cli/flags/rank_flags.h"
#include "apps/cli/flags/sampling_flags.h"
#include "apps/cli/flags/template_flags.h"
#include "apps/cli/report/progress.h"
#include "apps/server/log.h"
#include "apps/server/origin.h"
#include "apps/server/server.h"
#include "spectr/decode/auto/best_shape.h"
#include "spectr/gguf/mapped_file.h"

namespace spectr::cli {
namespace {

struct ServeFlags {
  ModelFlags model;
  SamplingFlags sampling;
  server::ServerOptions server;
  long slots = 4;
  long queue = 64;
  long max_rows = 0;
  long cache_ram = 2048;
  std::string slot_files;
  long timeout = 600;
  long drain_notice = 0;
  long drain_timeout = 30;
  std::vector<std::string> keys, aliases, origins;
  std::string key_file;
  MethodFlags method;
  long predict = -1;
  long seed = -1;
  long http_threads = -1;
  std::string log_format = "text";
  TemplateFlags chat_template;
  bool suffix_first = false;
  EmbeddingFlags embeddings;
  bool verbose = false;
};

/// Throws Failure if the default method is unavailable; otherwise every request would report it.
void check_method(const MethodFlags& flags, const MethodRule& rule, std::size_t draft_models) {
  check_drafts(rule, draft_models);
  MethodOptions settings = flags.request.settings();
  check_settings(rule, flags.request, settings);
  tell_bias(rule, settings);
  if (rule.reads(Setting::costs)) return;
  if (leaves_shape_open(rule, flags.request)) {  // costs choose K and L; check the minimum
    settings.drafts = flags.request.drafts.value_or(1);
    settings.length = flags.request.length.value_or(1);
  }
  const std::size_t max_nodes = server::max_nodes;
  need(check_block(need(make_decoder(rule, settings)), max_nodes, max_nodes));
}

server::LogFormat log_format_of(const ServeFlags& flags) {
  return flags.log_format == "json" ? server::LogFormat::json : server::LogFormat::text;
}

server::ServerOptions complete(ServeFlags& flags) {
  server::ServerOptions options = std::move(flags.server);
  flags.model.choose_bundled();
  const CostFile costs({.path = flags.method.cost_file,
                        .tell = [](const std::string& line) { spdlog::info("{}", line); },
                        .progress = measuring_bar(),
                        .tells_hash = true});
  options.service.defaults = {flags.sampling.given_options(),
                              flags.predict < 0 ? std::nullopt : std::optional<std::size_t>(flags.predict),
                              flags.method.request,
                              flags.seed < 0 ? std::nullopt : std::optional<std::uint64_t>(flags.seed)};
  const MethodRule& rule = flags.method.rule(flags.model.drafts.size(), !flags.model.has_trained_drafter());
  check_method(flags.method, rule, flags.model.drafts.size());
  EngineOptions& engine = options.service.engine;
  engine = engine_options(flags.model, rule, costs);
  engine.models.drafts = flags.model.model_options().drafts;  // requests may select them
  engine.models.chat = flags.chat_template.read();
  engine.models.load.embeds = flags.embeddings.embeds || flags.embeddings.ranks;
  options.service.embeddings = flags.embeddings.options();
  engine.measures_on_demand = false;  // it would disturb other requests
  engine.slots = {
      .slots = static_cast<std::size_t>(flags.slots),
      .queue = static_cast<std::size_t>(flags.queue),
      .max_rows = static_cast<std::size_t>(flags.max_rows),
      .prefix_bytes = flags.cache_ram < 0 ? SIZE_MAX : static_cast<std::size_t>(flags.cache_ram) << 20};
  options.service.slot_files = flags.slot_files;
  options.service.timeout = std::chrono::seconds(flags.timeout);
  // The parser ignores an empty variable, which would leave the server without a key.
  if (const char* key = std::getenv("LLAMA_API_KEY"); flags.keys.empty() && key != nullptr && *key == '\0')
    throw Failure(Status::usage, "LLAMA_API_KEY: the key is empty");
  for (const std::string& key : flags.keys) {
    if (const auto added = options.keys.add_list(key); !added)
      throw Failure(Status::usage, "--api-key: " + added.error().message);
  }
  if (!flags.key_file.empty()) need(options.keys.add_file(flags.key_file));
  if (flags.http_threads > 0) options.http.threads = static_cast<std::size_t>(flags.http_threads);
  options.log = log_format_of(flags);
  options.service.aliases = entries_of(flags.aliases);
  options.cors = entries_of(flags.origins);
  options.service.defaults.splits_reasoning = engine.models.chat.splits_reasoning;
  options.service.defaults.reasoning_limit = flags.chat_template.reasoning_limit();
  options.service.defaults.suffix_first = flags.suffix_first;
  // Fail before clients are told that models are loading.
  for (const std::string& file : flags.model.drafts) need(MappedFile::open(file));
  need(MappedFile::open(flags.model.model));
  return options;
}

/// Validates CORS origins in browsers' notation, localhost for those of this machine, or * for any.
CLI::Validator list_of_origins() {
  const auto check = [](std::string& text) {
    for (const std::string& one : entries_of({text})) {
      if (one == "*" || one == "localhost" || server::is_origin(one)) continue;
      return fmt::format("'{}' is neither *, localhost nor an origin, as http://host or https://host:8080",
                         one);
    }
    return std::string();
  };
  return {check, ""};
}

/// Validates a host as in a Host header: without a scheme, a path or non-ASCII letters.
CLI::Validator host_name() {
  const auto check = [](std::string& text) {
    if (server::HostName::read(text)) return std::string();
    return fmt::format("'{}' is neither a host nor host:port", text);
  };
  return {check, ""};
}

/// Translates llama.cpp's words for switches that the parser does not know.
std::string switch_words(std::string value) {
  if (value == "enabled") return "true";
  if (value == "disabled") return "false";
  return value;
}

using Loading = std::future<Result<void>>;

/// Returns true if a signal of `endings` arrives before the models are loaded and before `end`.
bool is_ended(const Loading& loading, const sigset_t& endings, std::chrono::steady_clock::time_point end) {
  constexpr timespec moment{0, 20'000'000};
  while (loading.wait_for(std::chrono::seconds(0)) != std::future_status::ready &&
         std::chrono::steady_clock::now() < end) {
    if (sigtimedwait(&endings, nullptr, &moment) > 0) return true;
  }
  return false;
}

/// Ends the other processes of the job in order, so that their launcher does not report a crash. Returns when
/// loading has ended, or on another signal; exits when no process is left.
void stop_job(LedJob& job, const Loading& loading, const sigset_t& endings) {
  const auto now = [] { return std::chrono::steady_clock::now(); };
  constexpr std::chrono::seconds patience(3);  // time for loading to hit a refused command
  job.stop();
  bool hurried = is_ended(loading, endings, now() + patience);
  while (!hurried && loading.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    if (job.leave()) std::quick_exit(0);  // the job is no longer usable
    hurried = is_ended(loading, endings, now() + std::chrono::milliseconds(100));
  }
}

/// Loads the models. If a signal of `endings` arrives first, returns false, or exits the process if loading
/// is still running. Throws Failure.
bool load(server::Server& server, const sigset_t& endings) {
  Loading loading = std::async(std::launch::async, [&server] { return server.load(); });
  if (!is_ended(loading, endings, std::chrono::steady_clock::time_point::max())) {
    need(loading.get());
    return true;
  }
  spdlog::info("stopped before the models were loaded");
  if (LedJob* const job = led_job()) stop_job(*job, loading, endings);
  if (loading.wait_for(std::chrono::seconds(0)) != std::future_status::ready) std::quick_exit(0);
  return false;
}

/// Waits for a signal of `endings`. Throws Failure if the server or its model fails; in the latter case it
/// first rejects requests for some seconds, so that monitoring sees the reason.
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

void serve(ServeFlags& flags) {
  // Threads started from here on inherit the mask, so that only this thread receives these signals.
  sigset_t endings;
  sigemptyset(&endings);
  sigaddset(&endings, SIGINT);
  sigaddset(&endings, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &endings, nullptr);

  server::make_stderr_lossy();
  server::set_up_log(std::make_shared<server::LossySink>(STDERR_FILENO), log_format_of(flags), flags.verbose);
  const server::ServerOptions options = complete(flags);
  const auto server = need(server::Server::listen(options), Status::failed);
  const std::string& host = options.http.host;
  const bool is_ipv6 = host.find(':') != std::string::npos;
  spdlog::info("listening on {}://{}:{}", options.http.certificate_file.empty() ? "http" : "https",
               is_ipv6 ? "[" + host + "]" : host, server->port());
  if (!server::is_loopback(host) && options.keys.none())
    spdlog::warn("{} can be reached from other machines, and no key is asked for: see --api-key", host);
  if (!load(*server, endings)) return;
  spdlog::info("ready: {}, {} slots", options.service.engine.models.target.string(),
               options.service.engine.slots.slots);
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
  auto flags = std::make_shared<ServeFlags>();
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
                                "API key that clients must send; comma-separated; repeatable"))
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
                 "host or host:port to answer to on a local address besides localhost (behind a proxy); "
                 "repeatable"))
      ->transform(host_name())
      ->group(network);
  repeatable(
      command.add_option("--cors", flags->origins,
                         "allowed CORS origins, comma-separated; localhost: any of this machine; *: any; "
                         "repeatable"))
      ->envname("LLAMA_ARG_CORS_ORIGINS")
      ->transform(list_of_origins())
      ->group(network);
  command.add_flag("--metrics", flags->server.metrics, "answer /metrics for Prometheus")
      ->envname("LLAMA_ARG_ENDPOINT_METRICS")
      ->transform(switch_words)
      ->group(network);
  command
      .add_option("--threads-http", flags->http_threads,
                  "threads that handle requests, besides the one for probes such as /health; -1: 4")
      ->envname("LLAMA_ARG_THREADS_HTTP")
      ->transform(whole(-1, 1024))
      ->capture_default_str()
      ->group(network);
  command.add_option("--log-format", flags->log_format, "log in text, or in JSON with one object a line")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str()
      ->group(network);
  command.add_flag("--verbose", flags->verbose, "log probes (/health, /metrics), too")->group(network);
  command.add_option("--parallel", flags->slots, "-np N: requests decoded concurrently")
      ->envname("LLAMA_ARG_N_PARALLEL")
      ->transform(whole(1, 256))
      ->transform(minus_one_as(std::to_string(flags->slots)))
      ->capture_default_str()
      ->group(requests);
  command.add_option("--queue", flags->queue, "requests that may wait for a slot")
      ->transform(whole(0, 4096))
      ->capture_default_str()
      ->group(requests);
  command
      .add_option(
          "--max-rows", flags->max_rows,
          "maximum rows of a pass that reads prompts: fewer make prompts slower and concurrent completions "
          "smoother (default: 64, on devices 512)")
      ->transform(whole(1, 65536))
      ->group(requests);
  command
      .add_option(
          "--cache-ram", flags->cache_ram,
          "-cram MIB: memory for sequences that no slot holds any more, so that conversations that take "
          "turns are not computed again; 0: none, -1: no limit")
      ->envname("LLAMA_ARG_CACHE_RAM")
      ->transform(whole(-1, 1L << 30))
      ->capture_default_str()
      ->group(requests);
  command
      .add_option("--slot-save-path", flags->slot_files,
                  "folder for the files of POST /slots/N?action=save and restore")
      ->check(CLI::ExistingDirectory)
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
  flags->sampling.add_samplers(command);
  repeatable(command.add_option("-a,--alias", flags->aliases,
                                "names by which clients call the model, comma-separated; answers have the "
                                "first; repeatable"))
      ->envname("LLAMA_ARG_ALIAS")
      ->group(requests);
  command
      .add_option("-n,--predict,--n-predict", flags->predict,
                  "max tokens of a completion whose request does not say; -1: until it or the context ends")
      ->envname("LLAMA_ARG_N_PREDICT")
      ->transform(whole(-1))
      ->capture_default_str()
      ->group(requests);
  command
      .add_option("-s,--seed", flags->seed, "seed of a request that does not say; -1: a random one for each")
      ->transform(whole(-1))
      ->capture_default_str()
      ->group(requests);
  command
      .add_flag("--spm-infill", flags->suffix_first,
                "prompts of /infill and `suffix` begin with the suffix, as some models want it")
      ->group(requests);
  flags->method.add(command);
  flags->method.add_cost_file(command);
  flags->model.add_suffix_corpus(command);
  flags->chat_template.add(command);
  flags->embeddings.add_serving(command);
  command.callback([flags, &command] {
    check_variables(command);
    serve(*flags);
  });
}

}  // namespace spectr::cli
