#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "apps/plot/plot.h"
#include "apps/support/json.h"

namespace spectr::cli {

/// A picture and the name of its files.
struct Picture {
  std::string name;
  plot::Figure figure;
};

/// How a benchmark is shown: a table unless --json or --csv was given, and pictures with --plot DIR.
struct BenchOutput {
  bool json = false;
  bool csv = false;
  std::string folder;  ///< of --plot; empty: no pictures

  void add(CLI::App& app, bool pictures, const std::string& json_help = "print one JSON object");
  /// Before a long run: makes the folder of --plot, and tries whether it can be written. Throws Failure.
  void open() const;

  /// Prints the object, its rows, or the table. Throws Failure.
  void print(const Json& object, const Json& rows, const std::string& table) const;

  /// With --plot: writes NAME.csv with the rows, and NAME.svg and NAME.png for every picture that has points.
  /// Throws Failure.
  void draw(const std::string& name, const Json& rows, const std::vector<Picture>& pictures) const;
};

}  // namespace spectr::cli
