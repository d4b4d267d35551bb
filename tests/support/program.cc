#include "tests/support/program.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/support/longest.h"

namespace spectr::test {
namespace {

using namespace std::chrono_literals;

/// Reads the file from the beginning, even while others write to it.
std::string contents(std::FILE* file) {
  std::string text;
  char buffer[4096];
  ssize_t n = 0;
  while ((n = pread(fileno(file), buffer, sizeof buffer, static_cast<off_t>(text.size()))) > 0)
    text.append(buffer, static_cast<std::size_t>(n));
  return text;
}

}  // namespace

RunningProgram::File RunningProgram::temporary() {
  File file(std::tmpfile());
  if (!file) throw std::runtime_error("no temporary file");
  return file;
}

RunningProgram::RunningProgram(const std::string& program, const std::vector<std::string>& arguments,
                               const Surroundings& surroundings)
    : name_(program + (arguments.empty() ? "" : " " + arguments.front())) {
  std::fwrite(surroundings.input.data(), 1, surroundings.input.size(), in_.get());
  std::fflush(in_.get());
  std::rewind(in_.get());
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  child_ = fork();
  if (child_ == 0) {
    dup2(fileno(in_.get()), STDIN_FILENO);
    dup2(fileno(out_.get()), STDOUT_FILENO);
    dup2(fileno(err_.get()), STDERR_FILENO);
    setenv("XDG_CACHE_HOME", TEST_CACHE, 1);  // isolates the run from the user's costs and models
    for (const auto& [name, value] : surroundings.variables) setenv(name.c_str(), value.c_str(), 1);
    signal(SIGINT, SIG_DFL);  // ignored if the tests run in the background
    if (!surroundings.folder.empty() && chdir(surroundings.folder.c_str()) != 0) _exit(126);
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  if (child_ < 0) throw std::runtime_error("no process");
}

RunningProgram::~RunningProgram() {
  if (child_ < 0) return;
  send(SIGKILL);
  wait();
}

std::string RunningProgram::out() const {
  return contents(out_.get());
}

std::string RunningProgram::err() const {
  return contents(err_.get());
}

// Guards against −1, which the system interprets as all processes.
void RunningProgram::needs_child() const {
  if (child_ < 0) throw std::logic_error("the program has ended");
}

void RunningProgram::send(int signal) const {
  needs_child();
  kill(child_, signal);
}

bool RunningProgram::has_ended() const {
  needs_child();
  siginfo_t ended{};
  return waitid(P_PID, static_cast<id_t>(child_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid == child_;
}

Outcome RunningProgram::wait() {
  needs_child();
  const auto begin = std::chrono::steady_clock::now();
  int status = 0;
  while (waitpid(child_, &status, WNOHANG) == 0) {
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited > longest_program) {
      kill(child_, SIGKILL);
      waitpid(std::exchange(child_, -1), &status, 0);
      throw std::runtime_error(name_ + " hangs: it has not ended within " +
                               std::to_string(longest_program.count()) + " s, and has said: " + err());
    }
    std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(waited / 16, 10ms));
  }
  child_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(out_.get()), contents(err_.get())};
}

Outcome run_program(const std::string& program, const std::vector<std::string>& arguments,
                    const Surroundings& surroundings) {
  return RunningProgram(program, arguments, surroundings).wait();
}

}  // namespace spectr::test
