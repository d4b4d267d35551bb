#include "apps/cli/paste_mode.h"

#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <tuple>

namespace spectr::cli {
namespace {

constexpr int ending[] = {SIGINT, SIGTERM, SIGHUP};
constexpr std::string_view turn_on = "\033[?2004h", turn_off = "\033[?2004l";

termios terminal_before;
struct sigaction handlers_before[std::size(ending)];
bool is_on = false;

void say(std::string_view sequence) {
  std::ignore = ::write(STDOUT_FILENO, sequence.data(), sequence.size());
}

// Both calls may be made by a signal's handler.
void restore_terminal() {
  say(turn_off);
  tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
}

void restore_and_end(int signal) {
  restore_terminal();
  ::signal(signal, SIG_DFL);
  raise(signal);
}

}  // namespace

PasteMode::PasteMode() {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) return;
  if (tcgetattr(STDIN_FILENO, &terminal_before) != 0) return;
  termios quiet = terminal_before;
  quiet.c_lflag &= ~static_cast<tcflag_t>(ECHOCTL);  // marks would be seen, as ^[[200~
  if (tcsetattr(STDIN_FILENO, TCSANOW, &quiet) != 0) return;
  struct sigaction restoring{};
  restoring.sa_handler = restore_and_end;
  for (std::size_t i = 0; i < std::size(ending); ++i) {
    sigaction(ending[i], nullptr, &handlers_before[i]);
    if (handlers_before[i].sa_handler != SIG_IGN) sigaction(ending[i], &restoring, nullptr);
  }
  say(turn_on);
  is_on = true;
}

PasteMode::~PasteMode() {
  if (!is_on) return;
  is_on = false;
  restore_terminal();
  for (std::size_t i = 0; i < std::size(ending); ++i) sigaction(ending[i], &handlers_before[i], nullptr);
}

}  // namespace spectr::cli
