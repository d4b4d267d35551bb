#pragma once

#include <sys/types.h>
#include <termios.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace spectr::test {

/// A program that runs on a terminal of its own, of 80 columns and 24 rows, in a session of its own. Killed
/// by the destructor if it still runs.
class TerminalProgram {
 public:
  /// `output`: a file for standard output; empty: the terminal.
  TerminalProgram(const std::string& program, const std::vector<std::string>& arguments,
                  const std::map<std::string, std::string>& variables = {}, const std::string& output = {});
  TerminalProgram(const TerminalProgram&) = delete;
  TerminalProgram& operator=(const TerminalProgram&) = delete;
  ~TerminalProgram();

  /// Types keys, as the bytes that a terminal sends for them, whether the program reads them yet or not.
  void type(const std::string& keys);

  /// Whether these words come within a minute, after those that an earlier call has found.
  bool shows(const std::string& words);
  /// Everything that the terminal has got so far.
  const std::string& screen() const { return screen_; }

  /// The terminal's settings: now, also after the end, and before the program started.
  termios settings() const;
  const termios& first_settings() const { return first_settings_; }
  void send(int signal) const;

  /// Waits for the end, at most a minute. Returns the exit status, −1 if a signal ended the program.
  int wait();

 private:
  /// Reads what the program has written; false once nothing came for a moment.
  bool read();

  int terminal_ = -1;
  pid_t child_ = -1;  // −1: has ended
  termios first_settings_{};
  std::string screen_;
  std::size_t found_ = 0;  // where shows() goes on
};

}  // namespace spectr::test
