#include "apps/cli/shortened_files.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "apps/cli/failure.h"
#include "spectr/base/os/terminal.h"
#include "spectr/gguf/mapped_file.h"

namespace spectr::cli {
namespace {

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
  write_to_stderr("spectr: error: ");
  write_to_stderr(path);
  write_to_stderr(": has become shorter while it was read\n");
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
