#include "apps/cli/commands/serve/serve_flags.h"

#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/spec_type.h"
#include "apps/server/origin.h"

namespace spectr::cli {
namespace {

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

}  // namespace

void ServeFlags::add(CLI::App& command) {
  model.add_model(command, false);
  model.add_drafts(command);
  model.add_threads(command);
  model.add_cache_types(command);
  model.add_context(command);
  const std::string network = network_group, requests = "Requests";
  command.add_option("--host", server.http.host, "address to listen on")
      ->envname("LLAMA_ARG_HOST")
      ->transform(not_empty("address"))
      ->capture_default_str()
      ->group(network);
  command.add_option("--port", server.http.port, "port to listen on; 0: any that is free")
      ->envname("LLAMA_ARG_PORT")
      ->transform(whole(0, 65535))
      ->capture_default_str()
      ->group(network);
  repeatable(
      command.add_option("--api-key", keys, "API key that clients must send; comma-separated; repeatable"))
      ->envname("LLAMA_API_KEY")
      ->group(network);
  command.add_option("--api-key-file", key_file, "file with one key a line")
      ->envname("LLAMA_ARG_API_KEY_FILE")
      ->transform(file_name())
      ->group(network);
  auto* certificate =
      command
          .add_option("--ssl-cert-file", server.http.certificate_file,
                      "certificate in PEM, those that vouch for it behind it: answer over HTTPS")
          ->envname("LLAMA_ARG_SSL_CERT_FILE")
          ->transform(file_name())
          ->group(network);
  auto* key = command.add_option("--ssl-key-file", server.http.key_file, "the certificate's key, in PEM")
                  ->envname("LLAMA_ARG_SSL_KEY_FILE")
                  ->transform(file_name())
                  ->group(network);
  certificate->needs(key);
  key->needs(certificate);
  repeatable(command.add_option(
                 "--allowed-host", server.names,
                 "host or host:port to answer to on a local address besides localhost (behind a proxy); "
                 "repeatable"))
      ->transform(host_name())
      ->group(network);
  repeatable(
      command.add_option("--cors", origins,
                         "allowed CORS origins, comma-separated; localhost: any of this machine; *: any; "
                         "repeatable"))
      ->envname("LLAMA_ARG_CORS_ORIGINS")
      ->transform(list_of_origins())
      ->group(network);
  command.add_flag("--metrics", server.metrics, "answer /metrics for Prometheus")
      ->envname("LLAMA_ARG_ENDPOINT_METRICS")
      ->transform(switch_words)
      ->group(network);
  command
      .add_option("--threads-http", http_threads,
                  "threads that handle requests, besides the one for probes such as /health; -1: 4")
      ->envname("LLAMA_ARG_THREADS_HTTP")
      ->transform(whole(-1, 1024))
      ->capture_default_str()
      ->group(network);
  command.add_option("--log-format", log_format, "log in text, or in JSON with one object a line")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str()
      ->group(network);
  command.add_flag("--verbose", verbose, "log probes (/health, /metrics), too")->group(network);
  command.add_option("--parallel", slots, "-np N: requests decoded concurrently")
      ->envname("LLAMA_ARG_N_PARALLEL")
      ->transform(whole(1, 256))
      ->transform(minus_one_as(std::to_string(slots)))
      ->capture_default_str()
      ->group(requests);
  command.add_option("--queue", queue, "requests that may wait for a slot")
      ->transform(whole(0, 4096))
      ->capture_default_str()
      ->group(requests);
  command
      .add_option(
          "--max-rows", max_rows,
          "maximum rows of a pass that reads prompts: fewer make prompts slower and concurrent completions "
          "smoother (default: by the measured costs of passes, at most 64, on devices 512)")
      ->transform(whole(1, 65536))
      ->group(requests);
  command
      .add_option(
          "--cache-ram", cache_ram,
          "-cram MIB: memory for sequences that no slot holds any more, so that conversations that take "
          "turns are not computed again; 0: none, -1: no limit")
      ->envname("LLAMA_ARG_CACHE_RAM")
      ->transform(whole(-1, 1L << 30))
      ->capture_default_str()
      ->group(requests);
  command
      .add_option("--slot-save-path", slot_files,
                  "folder for the files of POST /slots/N?action=save and restore")
      ->check(CLI::ExistingDirectory)
      ->group(requests);
  command
      .add_option("--timeout", timeout,
                  "-to S: seconds after which a request is cancelled, its waiting included")
      ->envname("LLAMA_ARG_TIMEOUT")
      ->transform(whole(1, 86400))
      ->capture_default_str()
      ->group(requests);
  command
      .add_option("--drain-notice", drain_notice,
                  "seconds after SIGTERM in which requests are taken still, while /health answers 503")
      ->transform(whole(0, 3600))
      ->capture_default_str()
      ->group(network);
  command
      .add_option("--drain-timeout", drain_timeout,
                  "seconds for texts to end in when the server stops, before they are cancelled")
      ->transform(whole(0, 86400))
      ->capture_default_str()
      ->group(network);
  sampling.add_filters(command);
  sampling.add_samplers(command);
  repeatable(command.add_option("-a,--alias", aliases,
                                "names by which clients call the model, comma-separated; answers have the "
                                "first; repeatable"))
      ->envname("LLAMA_ARG_ALIAS")
      ->group(requests);
  command
      .add_option("-n,--predict,--n-predict", predict,
                  "max tokens of a completion whose request does not say; -1: until it or the context ends")
      ->envname("LLAMA_ARG_N_PREDICT")
      ->transform(whole(-1))
      ->capture_default_str()
      ->group(requests);
  command.add_option("-s,--seed", seed, "seed of a request that does not say; -1: a random one for each")
      ->transform(whole(-1))
      ->capture_default_str()
      ->group(requests);
  command
      .add_flag("--spm-infill", suffix_first,
                "prompts of /infill and `suffix` begin with the suffix, as some models want it")
      ->group(requests);
  method.add(command);
  method.add_cost_file(command);
  model.add_suffix_corpus(command);
  add_spec_type(command, model.spec_types);
  chat_template.add(command);
  embeddings.add_serving(command);
  command.add_option("--models-dir", models_folder, "serve the models of this folder, which requests name")
      ->envname("LLAMA_ARG_MODELS_DIR")
      ->check(CLI::ExistingDirectory)
      ->group(models_group);
  command
      .add_option("--models-preset", models_preset,
                  "serve the models of this INI file, with a section of flags for each")
      ->envname("LLAMA_ARG_MODELS_PRESET")
      ->transform(file_name())
      ->group(models_group);
  command
      .add_option("--models-max", max_models,
                  "models that are loaded at a time; the least recently used makes room; 0: no limit")
      ->envname("LLAMA_ARG_MODELS_MAX")
      ->transform(whole(0, 1024))
      ->capture_default_str()
      ->group(models_group);
  command
      .add_flag("--models-autoload,!--no-models-autoload", loads_on_demand,
                "load a model when a request names it (default), or only by POST /models/load")
      ->envname("LLAMA_ARG_MODELS_AUTOLOAD")
      ->transform(switch_words)
      ->group(models_group);
}

}  // namespace spectr::cli
