#pragma once

#include <sys/types.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace spectr::test {

/// The outcome of a run of the program.
struct Outcome {
  int status;  ///< exit status; −1 if a signal ended it
  std::string out, err;
};

struct Surroundings {
  std::map<std::string, std::string> variables = {};  ///< additions to the program's environment
  std::filesystem::path folder = {};                  ///< working directory; empty: the test's own
  std::string input = {};                             ///< standard input
};

/// A running program. The destructor kills it unless its end was awaited.
class RunningProgram {
 public:
  RunningProgram(const std::string& program, const std::vector<std::string>& arguments,
                 const Surroundings& surroundings = {});
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;
  ~RunningProgram();

  /// Returns the output so far.
  std::string out() const;
  std::string err() const;
  /// Throws std::logic_error after wait(), as a second wait() does.
  void send(int signal) const;
  /// Returns true if wait() would return immediately. Throws std::logic_error after wait().
  bool has_ended() const;
  /// Throws std::runtime_error if the program does not end within longest_program, and kills it.
  Outcome wait();

 private:
  void needs_child() const;

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;
  static File temporary();

  std::string name_;  // including the first argument
  File in_ = temporary(), out_ = temporary(), err_ = temporary();
  pid_t child_ = -1;  // −1 after the end
};

/// Runs `program` with these arguments and waits until it ends.
Outcome run_program(const std::string& program, const std::vector<std::string>& arguments,
                    const Surroundings& surroundings = {});

}  // namespace spectr::test
