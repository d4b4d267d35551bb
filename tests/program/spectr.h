#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/comes_true.h"
#include "tests/support/data.h"
#include "tests/support/program.h"

namespace spectr::test {

using Json = nlohmann::json;
using Arguments = std::vector<std::string>;

inline Arguments operator+(Arguments a, const Arguments& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Runs the built program.
inline Outcome spectr(const Arguments& arguments, const Surroundings& surroundings = {}) {
  return run_program(spectr_program(), arguments, surroundings);
}

/// Returns variables for runs that load Vulkan drivers. Drivers leak memory when they are unloaded, and the
/// leak detector can no longer attribute it, so it is turned off.
inline Surroundings with_vulkan() {
  const char* const options = std::getenv("ASAN_OPTIONS");
  return {
      .variables = {{"ASAN_OPTIONS", std::string(options == nullptr ? "" : options) + ":detect_leaks=0"}}};
}

/// Runs the program in a shell that redirects its input or output, as in ">/dev/full".
inline Outcome redirected(const std::string& redirection, const Arguments& arguments) {
  const Arguments shell = {"-c", "exec \"$0\" \"$@\" " + redirection, spectr_program()};
  return run_program("/bin/sh", shell + arguments);
}

/// Expects one line on stderr that contains `reason`, status 2, and empty stdout.
inline void expect_error(const Arguments& arguments, const std::string& reason,
                         const Surroundings& where = {}) {
  const Outcome ran = spectr(arguments, where);
  std::string command;
  for (const std::string& argument : arguments) command += " " + argument.substr(0, 60);
  SCOPED_TRACE("spectr" + command);
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, testing::StartsWith("spectr: error: "));
  EXPECT_THAT(ran.err, testing::HasSubstr(reason));
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  EXPECT_TRUE(ran.err.ends_with('\n'));
}

/// Returns true if a program prints these words on standard error within two minutes.
inline bool says(const RunningProgram& run, const std::string& words) {
  return comes_true([&] { return run.err().find(words) != std::string::npos; });
}

/// Returns the port of a server that has printed its address.
inline int port_of(const RunningProgram& server) {
  const std::string before = "http://127.0.0.1:", said = server.err();
  return std::stoi(said.substr(said.find(before) + before.size()));
}

inline std::string data(const char* name) {
  return find_data(name).value().string();
}

// Two tiny models with a common vocabulary of 512 tokens, and the bundled target's of 4,096.
inline std::string target() {
  return data("models/stories260K-f32.gguf");
}
inline std::string draft() {
  return data("models/llama2xs-281K-f32.gguf");
}
inline std::string stranger() {
  return data("models/spectr-stories-draft-0.6m-q8_0.gguf");
}

/// Returns the arguments of `spectr generate` on the tiny pair.
inline Arguments generate() {
  return {"generate", "-m", target(), "-md", draft()};
}

/// A file that is deleted by the destructor.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& contents) {
    char name[] = "/tmp/spectr-test-XXXXXX";
    if (const int file = mkstemp(name); file >= 0) close(file);
    path_ = name;
    std::ofstream(path_, std::ios::binary) << contents;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Returns every method with small settings of its own, as arguments after --method.
inline std::vector<Arguments> every_method() {
  return {Arguments{"plain"},
          {"speculative"},
          {"spectr", "--plan", "optimal"},
          {"tree", "--tree", "2,2,1"},
          {"tree", "--tree", "2,1", "--plan", "recursive"},
          {"batch"},
          {"specinfer", "-md", draft()},
          {"block"},
          {"traversal"},
          {"traversal", "--tree", "2,1,2"},
          {"conditional", "--trunk", "1"},
          {"univer"},
          {"gbv"},
          {"mtad"},
          {"mtjd", "--beams", "2"},
          {"bild"},
          {"biased-opt", "--epsilon", "0.1"},
          {"biased-uno", "--epsilon", "0.1"},
          {"ngram"},
          {"suffix"},
          {"auto"}};
}

}  // namespace spectr::test
