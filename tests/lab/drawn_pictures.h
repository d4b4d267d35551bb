#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "lab/experiment.h"
#include "tests/support/data.h"

namespace spectr::lab {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::filesystem::path committed_picture(std::string_view experiment) {
  return source_folder() / "docs/pictures/lab" / (std::string(experiment) + ".svg");
}

/// Draws an experiment with the settings of the committed picture and compares the files byte by byte.
/// Skipped if another version of gnuplot is installed, which may draw differently.
inline void expect_committed_picture(std::string_view name) {
  const auto report = find_experiment(name).value()->run({});
  ASSERT_TRUE(report.has_value()) << report.error().message;
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("spectr_lab_picture_" + std::string(name));
  const auto written = write(*report, name, folder);
  if (!written && written.error().message.find("not installed") != std::string::npos)
    GTEST_SKIP() << written.error().message;
  ASSERT_TRUE(written.has_value()) << written.error().message;
  const std::string drawn = read_file(folder / (std::string(name) + ".svg"));
  const std::string committed = read_file(committed_picture(name));
  const auto version = [](const std::string& svg) {
    const std::size_t begin = svg.find("Produced by GNUPLOT");
    return svg.substr(begin, svg.find('<', begin) - begin);
  };
  if (version(drawn) != version(committed)) {
    GTEST_SKIP() << version(drawn) << "; the committed picture: " << version(committed);
  }
  EXPECT_TRUE(drawn == committed) << name << " has changed: spectr lab run " << name
                                  << " --out docs/pictures/lab";
}

}  // namespace spectr::lab
