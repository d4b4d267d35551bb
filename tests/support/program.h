#pragma once

#include <filesystem>
#include <map>
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

/// Runs `program` with these arguments and waits for its end.
Outcome run_program(const std::string& program, const std::vector<std::string>& arguments,
                    const Surroundings& surroundings = {});

}  // namespace spectr::test
