// Part of every test program: if a test hangs, ends the program with an error that names the test, instead of
// blocking whoever runs the program.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "tests/support/longest.h"

namespace spectr::test {
namespace {

// Message that names the current test. Written before the alarm is set, read by the signal handler.
std::string message;

void end_program(int) {
  (void)!::write(STDERR_FILENO, message.data(), message.size());
  _exit(1);
}

class EachTestEnds : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& test) override {
    message = std::string("[  FAILED  ] ") + test.test_suite_name() + "." + test.name() +
              " hangs: it has not ended within " + std::to_string(longest_test.count()) + " s\n";
    std::signal(SIGALRM, end_program);
    ::alarm(static_cast<unsigned>(longest_test.count()));
  }
  void OnTestEnd(const testing::TestInfo&) override { ::alarm(0); }
};

[[maybe_unused]] const bool is_there = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new EachTestEnds);
  return true;
}();

}  // namespace
}  // namespace spectr::test
