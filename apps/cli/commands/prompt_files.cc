#include "apps/cli/commands/prompt_files.h"

#include <algorithm>
#include <filesystem>

#include "apps/cli/failure.h"
#include "spectr/engine/bundled_models.h"

namespace spectr::cli {
namespace {

namespace fs = std::filesystem;

DataSet named(const std::string& given) {
  std::error_code failed;
  const std::size_t sign = given.find('=');
  if (sign == std::string::npos || fs::exists(given, failed))
    return {fs::path(given).stem().string(), given, {}};
  if (sign == 0 || sign + 1 == given.size())
    throw Failure(Status::usage, fmt::format("--prompts: '{}' is not of the form NAME=FILE", given));
  return {given.substr(0, sign), given.substr(sign + 1), {}};
}

}  // namespace

std::vector<DataSet> read_data_sets(const std::vector<std::string>& given, std::size_t count) {
  std::vector<DataSet> all;
  for (const std::string& one : given) {
    all.push_back(named(one));
    if (std::ranges::count(all, all.back().name, &DataSet::name) > 1) {
      throw Failure(Status::usage,
                    fmt::format("--prompts: two data sets are called {}; give NAME=FILE", all.back().name));
    }
  }
  if (all.empty()) all.push_back({"stories", need(data_file("", "stories.jsonl", "--prompts")).string(), {}});
  for (DataSet& set : all) set.prompts = need(bench::read_prompts(set.file, count));
  return all;
}

void ask_for_data(const bench::Preset& preset, const std::vector<std::string>& given) {
  if (!given.empty()) return;
  if (!preset.data_sets.empty()) {
    std::string names;
    for (const bench::DataSet& set : preset.data_sets)
      names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", set.name, set.what);
    throw Failure(Status::usage, fmt::format("--preset {} measures prompts: give --prompts NAME=FILE … of {}",
                                             preset.name, names));
  }
  const auto judged = [](const bench::Column& column) { return !column.score.empty(); };
  if (std::ranges::any_of(preset.columns, judged)) {
    throw Failure(
        Status::usage,
        fmt::format("--preset {} judges answers, and the bundled stories have none to compare with: "
                    "give --prompts FILE; the paper's: {}",
                    preset.name, preset.models));
  }
}

}  // namespace spectr::cli
