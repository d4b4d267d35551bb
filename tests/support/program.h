#pragma once

#include <sys/types.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace spectr::test {

/// What a run of the program left behind.
struct Outcome {
  int status;  ///< exit status; −1 where a signal ended it
  std::string out, err;
};

struct Surroundings {
  std::map<std::string, std::string> variables = {};  ///< set in the program's environment
  std::filesystem::path folder = {};                  ///< to run in; empty: where the test runs
  std::string input = {};                             ///< on stdin
};

/// A run of a program that is still going on. Killed where nobody waited for its end.
class RunningProgram {
 public:
  RunningProgram(const std::string& program, const std::vector<std::string>& arguments,
                 const Surroundings& surroundings = {});
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;
  ~RunningProgram();

  /// What it has printed so far.
  std::string out() const;
  std::string err() const;
  /// Throws std::logic_error after wait(), as a second wait() does.
  void send(int signal) const;
  /// Whether wait() would return at once. Throws std::logic_error after wait().
  bool has_ended() const;
  /// Throws std::runtime_error if the program has not ended within longest_program; then it is killed.
  Outcome wait();

 private:
  void needs_child() const;

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;
  static File temporary();

  std::string name_;  // with its first argument
  File in_ = temporary(), out_ = temporary(), err_ = temporary();
  pid_t child_ = -1;  // −1: has ended
};

/// Runs `program` with these arguments and waits for its end.
Outcome run_program(const std::string& program, const std::vector<std::string>& arguments,
                    const Surroundings& surroundings = {});

}  // namespace spectr::test
