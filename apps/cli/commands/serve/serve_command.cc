#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <future>
#include <memory>

#include "apps/cli/commands/commands.h"
#include "apps/cli/commands/serve/serve_flags.h"
#include "apps/cli/commands/serve/serve_models.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/arguments.h"
#include "apps/server/log.h"
#include "apps/server/origin.h"
#include "apps/server/server.h"

namespace spectr::cli {
namespace {

using Loading = std::future<Result<void>>;

/// Returns true if a signal of `endings` arrives before the models are loaded and before `end`.
bool is_ended(const Loading& loading, const sigset_t& endings, std::chrono::steady_clock::time_point end) {
  constexpr timespec poll_interval{0, 20'000'000};
  while (loading.wait_for(std::chrono::seconds(0)) != std::future_status::ready &&
         std::chrono::steady_clock::now() < end) {
    if (sigtimedwait(&endings, nullptr, &poll_interval) > 0) return true;
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
  constexpr timespec poll_interval{1, 0}, linger{3, 0};
  while (sigtimedwait(&endings, nullptr, &poll_interval) <= 0) {
    if (!server.listening())
      throw Failure(Status::failed, fmt::format("port {} cannot be listened on any more", server.port()));
    if (const auto alive = server.check_alive(); !alive) {
      spdlog::error("{}", alive.error().message);
      sigtimedwait(&endings, nullptr, &linger);
      throw Failure(Status::failed, alive.error().message);
    }
  }
}

void serve(ServeFlags& flags, const CLI::App& command) {
  // Threads started from here on inherit the mask, so that only this thread receives these signals.
  sigset_t endings;
  sigemptyset(&endings);
  sigaddset(&endings, SIGINT);
  sigaddset(&endings, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &endings, nullptr);

  server::make_stderr_lossy();
  server::set_up_log(std::make_shared<server::LossySink>(STDERR_FILENO), flags.log_as(), flags.verbose);
  std::vector<server::ServiceOptions> models;
  if (flags.several()) {
    models = several_models(flags, command);
  } else {
    models.push_back(service_options(flags));
  }
  server::ServerOptions options = server_options(flags);
  if (flags.several()) {
    options.models = std::move(models);
  } else {
    options.service = std::move(models.front());
  }
  const auto server = need(server::Server::listen(options), Status::failed);
  const std::string& host = options.http.host;
  const bool is_ipv6 = host.find(':') != std::string::npos;
  spdlog::info("listening on {}://{}:{}", options.http.certificate_file.empty() ? "http" : "https",
               is_ipv6 ? "[" + host + "]" : host, server->port());
  if (!server::is_loopback(host) && options.keys.none())
    spdlog::warn("{} can be reached from other machines, and no key is asked for: see --api-key", host);
  if (!load(*server, endings)) return;
  if (flags.several()) {
    spdlog::info("ready: {} models, of which {} are loaded at a time", options.models.size(),
                 flags.max_models == 0 ? "all" : std::to_string(flags.max_models));
  } else {
    spdlog::info("ready: {}, {} slots", options.service.engine.models.target.string(),
                 options.service.engine.slots.slots);
  }
  wait_for_end(*server, endings);
  spdlog::info("stopping; once more ends all texts at once");
  bool hurried = false;
  const auto hurry = [&endings, &hurried] {
    constexpr timespec none{};
    return hurried = hurried || sigtimedwait(&endings, nullptr, &none) > 0;
  };
  server->announce_end(std::chrono::seconds(flags.drain_notice), hurry);
  server->stop(std::chrono::seconds(flags.drain_timeout), hurry);
  if (server->loading()) std::quick_exit(0);
}

}  // namespace

void add_serve(CLI::App& app) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App& command =
      *app.add_subcommand("serve", "Answer over HTTP, as OpenAI's API and llama.cpp's server do");
  flags->add(command);
  command.callback([flags, &command] {
    check_variables(command);
    serve(*flags, command);
  });
}

}  // namespace spectr::cli
