#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "apps/plot/plot.h"
#include "apps/support/json.h"

namespace spectr::cli {

/// A figure and its file name.
struct Picture {
  std::string name;
  plot::Figure figure;
};

/// Output options of a benchmark: a table, or --json or --csv, and figures with --plot DIR.
struct BenchOutput {
  bool json = false;
  bool csv = false;
  std::string folder;  ///< folder of --plot; empty: no figures

  void add(CLI::App& app, bool pictures, const std::string& json_help = "print one JSON object");
  /// Creates the folder of --plot and checks that it is writable, before a long run. Throws Failure.
  void open() const;

  /// Prints the object, its rows, or the table. Throws Failure.
  void print(const Json& object, const Json& rows, const std::string& table) const;

  /// With --plot, writes NAME.csv with the rows, and NAME.svg and NAME.png for each figure that has points.
  /// Throws Failure.
  void draw(const std::string& name, const Json& rows, const std::vector<Picture>& pictures) const;
};

}  // namespace spectr::cli
