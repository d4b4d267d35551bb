#include "apps/cli/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace spectr::cli {
namespace {

volatile std::sig_atomic_t interrupted_now = 0;
struct sigaction before;

void note(int) {
  interrupted_now = 1;
  sigaction(SIGINT, &before, nullptr);
}

}  // namespace

Interrupt::Interrupt() {
  interrupted_now = 0;
  sigaction(SIGINT, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;  // in a background program
  struct sigaction noting{};
  noting.sa_handler = note;
  noting.sa_flags = SA_RESTART;
  sigaction(SIGINT, &noting, nullptr);
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &before, nullptr);
}

bool Interrupt::came() const {
  return interrupted_now != 0;
}

void end_interrupted() {
  std::fflush(stdout);
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);
  _exit(128 + SIGINT);  // reached if the signal is blocked
}

}  // namespace spectr::cli
