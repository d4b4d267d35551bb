#include "apps/cli/interrupt.h"

#include <unistd.h>

#include <cstdio>

namespace spectr::cli {
namespace {

volatile std::sig_atomic_t noted = 0;

}  // namespace

Interrupt::Interrupt() {
  noted = 0;
  sigaction(SIGINT, nullptr, &before_);
  if (before_.sa_handler == SIG_IGN) return;  // a program in the background
  struct sigaction note{};
  note.sa_handler = [](int) { noted = 1; };
  note.sa_flags = SA_RESETHAND | SA_RESTART;
  sigaction(SIGINT, &note, nullptr);
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &before_, nullptr);
}

bool Interrupt::came() const {
  return noted != 0;
}

void end_interrupted() {
  std::fflush(stdout);
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);
  _exit(128 + SIGINT);  // where the signal is blocked
}

}  // namespace spectr::cli
