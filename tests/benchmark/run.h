#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/program/spectr.h"

namespace spectr::test {

inline std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

/// Returns the output of the program, which must succeed.
inline std::string output(const Arguments& arguments) {
  const Outcome ran = test::spectr(arguments);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return ran.out;
}

/// Returns the parsed output of the program with --json.
inline Json json(const Arguments& arguments) {
  return Json::parse(output(arguments + Arguments{"--json"}));
}

}  // namespace spectr::test
