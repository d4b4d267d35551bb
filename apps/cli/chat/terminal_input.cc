#include "apps/cli/chat/terminal_input.h"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

#include "apps/cli/report/terminal_style.h"

namespace spectr::cli {
namespace {

constexpr std::string_view marks_on = "\033[?2004h", marks_off = "\033[?2004l";
constexpr int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH};

// State that signal handlers read.
termios settings_before;
struct sigaction handlers_before[std::size(handled)];
volatile std::sig_atomic_t marks_pastes = 0, knows_escapes = 0;
int events[2] = {-1, -1};  // pipe from the handlers to read()

void report(TerminalInput::Event event) {
  const auto byte = static_cast<std::uint8_t>(event);
  std::ignore = ::write(events[1], &byte, 1);
}

void restore_terminal() {
  if (marks_pastes != 0) write_to_stderr(marks_off);
  if (knows_escapes != 0) write_to_stderr(style::plain);
  tcsetattr(STDIN_FILENO, TCSANOW, &settings_before);
}

void end(int signal) {
  restore_terminal();
  ::signal(signal, SIG_DFL);
  raise(signal);
}

/// Restores the terminal, suspends the program, and sets up the terminal again on resumption.
void stop(int signal) {
  const int error = errno;
  termios settings{};
  tcgetattr(STDIN_FILENO, &settings);
  restore_terminal();
  struct sigaction stopping{}, handling{};
  stopping.sa_handler = SIG_DFL;
  sigaction(signal, &stopping, &handling);
  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, signal);
  pthread_sigmask(SIG_UNBLOCK, &stops, nullptr);
  raise(signal);  // returns when the program resumes
  sigaction(signal, &handling, nullptr);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &settings);
  if (marks_pastes != 0) write_to_stderr(marks_on);
  report(TerminalInput::Event::resumed);
  errno = error;
}

void resize(int) {
  const int error = errno;
  report(TerminalInput::Event::resized);
  errno = error;
}

void install_handlers() {
  for (std::size_t i = 0; i < std::size(handled); ++i) {
    sigaction(handled[i], nullptr, &handlers_before[i]);
    if (handlers_before[i].sa_handler == SIG_IGN) continue;
    struct sigaction action{};
    action.sa_handler = handled[i] == SIGTSTP ? stop : handled[i] == SIGWINCH ? resize : end;
    action.sa_flags = SA_RESTART;
    sigaction(handled[i], &action, nullptr);
  }
}

/// Returns true in Emacs' shell mode, in which Emacs edits the lines.
bool is_emacs_shell() {
  const char* const variable = std::getenv("TERM");
  const std::string_view terminal = variable != nullptr ? variable : "";
  return terminal == "emacs" || (terminal == "dumb" && std::getenv("INSIDE_EMACS") != nullptr);
}

}  // namespace

std::unique_ptr<TerminalInput> TerminalInput::open() {
  if (!is_terminal(StandardStream::input) || !is_terminal(StandardStream::error) || is_emacs_shell())
    return nullptr;
  if (tcgetattr(STDIN_FILENO, &settings_before) != 0 || pipe2(events, O_CLOEXEC | O_NONBLOCK) != 0)
    return nullptr;
  knows_escapes = reads_escapes(StandardStream::error) ? 1 : 0;
  install_handlers();
  termios settings = settings_before;
  settings.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  settings.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | IGNCR);
  settings.c_cc[VMIN] = 1;
  settings.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &settings);
  return std::unique_ptr<TerminalInput>(new TerminalInput());
}

TerminalInput::~TerminalInput() {
  tcsetattr(STDIN_FILENO, TCSADRAIN, &settings_before);
  for (std::size_t i = 0; i < std::size(handled); ++i) sigaction(handled[i], &handlers_before[i], nullptr);
  for (int& end : events) ::close(std::exchange(end, -1));
}

void TerminalInput::outlive_interrupts() {
  struct sigaction action{};
  sigaction(SIGINT, nullptr, &action);
  if (action.sa_handler == SIG_IGN) return;
  action.sa_handler = [](int) {};  // not SIG_IGN, which Interrupt does not replace
  sigaction(SIGINT, &action, nullptr);
}

std::expected<std::uint8_t, TerminalInput::Event> TerminalInput::read() {
  while (read_ == size_) {
    pollfd waits[] = {{STDIN_FILENO, POLLIN, 0}, {events[0], POLLIN, 0}};
    if (poll(waits, std::size(waits), -1) < 0) {
      if (errno == EINTR) continue;
      return std::unexpected(Event::ended);
    }
    if (std::uint8_t event = 0; waits[1].revents != 0 && ::read(events[0], &event, 1) == 1)
      return std::unexpected(static_cast<Event>(event));
    if (waits[0].revents == 0) continue;
    const ssize_t count = ::read(STDIN_FILENO, bytes_.data(), bytes_.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return std::unexpected(Event::ended);
    size_ = static_cast<std::size_t>(count);
    read_ = 0;
  }
  return bytes_[read_++];
}

TerminalInput::PasteMarks::PasteMarks() {
  if (knows_escapes == 0) return;
  marks_pastes = 1;
  write_to_stderr(marks_on);
}

TerminalInput::PasteMarks::~PasteMarks() {
  if (marks_pastes == 0) return;
  marks_pastes = 0;
  write_to_stderr(marks_off);
}

}  // namespace spectr::cli
