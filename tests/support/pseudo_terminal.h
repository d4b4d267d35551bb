#pragma once

#include <sys/types.h>
#include <termios.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace spectr::test {

/// A program that runs on its own terminal of 80 columns and 24 rows, in its own session. Killed by
/// the destructor if it still runs.
class TerminalProgram {
 public:
  /// `output`: a file for standard output; empty: the terminal.
  TerminalProgram(const std::string& program, const std::vector<std::string>& arguments,
                  const std::map<std::string, std::string>& variables = {}, const std::string& output = {});
  TerminalProgram(const TerminalProgram&) = delete;
  TerminalProgram& operator=(const TerminalProgram&) = delete;
  ~TerminalProgram();

  /// Types keys as the bytes that a terminal sends, even if the program does not read them yet.
  void type(const std::string& keys);

  /// Returns true if these words appear within a minute after the words that an earlier call has found.
  bool shows(const std::string& words);
  /// Returns everything that the terminal has received so far.
  const std::string& screen() const { return screen_; }

  /// Return the terminal's settings: at present (also after the end), and before the program started.
  termios settings() const;
  const termios& first_settings() const { return first_settings_; }
  void send(int signal) const;

  /// Waits for the end, at most a minute. Returns the exit status, −1 if a signal ended the program.
  int wait();

 private:
  /// Reads the program's output; returns false after a short time without any.
  bool read();

  int terminal_ = -1;
  pid_t child_ = -1;  // −1 after the end
  termios first_settings_{};
  std::string screen_;
  std::size_t found_ = 0;  // where shows() continues
};

}  // namespace spectr::test
