#pragma once

#include <string>
#include <vector>

#include "apps/bench/methods/presets.h"
#include "apps/bench/prompts.h"

namespace spectr::cli {

/// The prompts of a file with a name.
struct DataSet {
  std::string name;
  std::string file;
  std::vector<bench::Prompt> prompts;
};

/// Reads the files of --prompts, each FILE or NAME=FILE (by default the name is the file name without folder
/// and extension), or else the bundled stories. Reads at most `count` prompts of each; 0: all. Throws Failure
/// if a file cannot be read or a name is not unique.
std::vector<DataSet> read_data_sets(const std::vector<std::string>& given, std::size_t count);

/// Throws Failure with instructions if the bundled stories do not suffice for a preset.
void ask_for_data(const bench::Preset& preset, const std::vector<std::string>& given);

}  // namespace spectr::cli
