#pragma once

#include <string>
#include <vector>

#include "apps/bench/methods/presets.h"
#include "apps/bench/prompts.h"

namespace spectr::cli {

/// The prompts of a file, under a name.
struct DataSet {
  std::string name;
  std::string file;
  std::vector<bench::Prompt> prompts;
};

/// Reads the files of --prompts, each FILE or NAME=FILE (a file without a name is called by its own, without
/// folder and ending); the bundled stories where there is none. At most `count` prompts of each, 0: all.
/// Throws Failure: a file that cannot be read, or two of one name.
std::vector<DataSet> read_data_sets(const std::vector<std::string>& given, std::size_t count);

/// Throws Failure where a preset cannot do with the bundled stories, and says what to give.
void ask_for_data(const bench::Preset& preset, const std::vector<std::string>& given);

}  // namespace spectr::cli
