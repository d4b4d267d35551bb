#include "apps/cli/shortened_files.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string_view>

#include "apps/cli/failure.h"
#include "spectr/gguf/mapped_file.h"

namespace spectr::cli {
namespace {

void say(std::string_view text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

/// Signal handler; calls only async-signal-safe functions.
void end(int signal, siginfo_t* info, void* /*context*/) {
  static std::atomic<bool> told = false;
  const char* path = mapped_file_at(info->si_addr);
  if (path == nullptr) {  // not a mapped file: use the default action
    std::signal(signal, SIG_DFL);
    return;
  }
  if (told.exchange(true)) {
    for (;;) ::pause();  // another thread is already reporting it
  }
  say("spectr: error: ");
  say(path);
  say(": has become shorter while it was read\n");
  ::_exit(static_cast<int>(Status::usage));
}

}  // namespace

void tell_shortened_files() {
  struct sigaction action = {};
  action.sa_sigaction = end;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace spectr::cli
