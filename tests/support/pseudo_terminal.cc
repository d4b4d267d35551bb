#include "tests/support/pseudo_terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace spectr::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::minutes patience(1);

/// Becomes the program. Discards the settings of the tests' own terminal.
[[noreturn]] void become(const std::string& program, const std::vector<std::string>& arguments,
                         const std::map<std::string, std::string>& variables, const std::string& output) {
  for (const char* name : {"NO_COLOR", "INSIDE_EMACS"}) unsetenv(name);
  setenv("TERM", "xterm", 1);
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  for (const int signal : {SIGINT, SIGQUIT, SIGTSTP}) std::signal(signal, SIG_DFL);
  if (!output.empty()) {
    const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDOUT_FILENO);
  }
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  _exit(127);
}

bool has_ended(pid_t child) {
  siginfo_t info{};  // stays 0 while the child runs
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

}  // namespace

TerminalProgram::TerminalProgram(const std::string& program, const std::vector<std::string>& arguments,
                                 const std::map<std::string, std::string>& variables,
                                 const std::string& output) {
  const winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  int programs = -1;
  if (openpty(&terminal_, &programs, nullptr, nullptr, &size) != 0) throw std::runtime_error("no terminal");
  tcgetattr(programs, &first_settings_);
  child_ = fork();
  if (child_ == 0) {
    close(terminal_);
    login_tty(programs);
    become(program, arguments, variables, output);
  }
  close(programs);
  if (child_ < 0) throw std::runtime_error("no process");
  fcntl(terminal_, F_SETFL, O_NONBLOCK);
}

TerminalProgram::~TerminalProgram() {
  if (child_ > 0) {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  close(terminal_);
}

bool TerminalProgram::read() {
  pollfd waits{terminal_, POLLIN, 0};
  if (poll(&waits, 1, 20) <= 0) return false;
  std::array<char, 4096> bytes{};
  const ssize_t count = ::read(terminal_, bytes.data(), bytes.size());
  if (count <= 0) return false;  // also after the program has ended
  screen_.append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

void TerminalProgram::type(const std::string& keys) {
  const auto end = Clock::now() + patience;
  for (std::string_view left = keys; !left.empty() && Clock::now() < end;) {
    const ssize_t written = ::write(terminal_, left.data(), left.size());
    if (written > 0) left.remove_prefix(static_cast<std::size_t>(written));
    if (!left.empty()) read();  // a program whose output is not read stops reading
  }
}

bool TerminalProgram::shows(const std::string& words) {
  const auto end = Clock::now() + patience;
  for (;;) {
    if (const std::size_t at = screen_.find(words, found_); at != std::string::npos) {
      found_ = at + words.size();
      return true;
    }
    if (!read() && (Clock::now() > end || has_ended(child_))) return false;
  }
}

termios TerminalProgram::settings() const {
  termios settings{};
  tcgetattr(terminal_, &settings);
  return settings;
}

void TerminalProgram::send(int signal) const {
  kill(child_, signal);
}

int TerminalProgram::wait() {
  const auto end = Clock::now() + patience;
  int status = 0;
  while (waitpid(child_, &status, WNOHANG) == 0) {
    if (Clock::now() > end) {
      kill(child_, SIGKILL);
      waitpid(child_, &status, 0);
      break;
    }
    read();
  }
  while (read()) {
  }
  child_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace spectr::test
