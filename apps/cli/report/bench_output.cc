#include "apps/cli/report/bench_output.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "apps/bench/table.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/report/output.h"

namespace spectr::cli {

void BenchOutput::add(CLI::App& app, bool pictures, const std::string& json_help) {
  const std::string group = "Output";
  auto* json_flag = app.add_flag("--json", json, json_help)->group(group);
  app.add_flag("--csv", csv, "print comma-separated values")->excludes(json_flag)->group(group);
  if (pictures) {
    app.add_option("--plot", folder, "also write the values and pictures of them into this folder")
        ->transform(not_empty("name of the folder"))
        ->group(group);
  }
}

void BenchOutput::open() const {
  if (!folder.empty()) prepare_folder(folder);
}

void BenchOutput::print(const Json& object, const Json& rows, const std::string& table) const {
  if (json) {
    print_json(object);
  } else {
    const std::string text = csv ? bench::flat(rows).csv() : table;
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
}

void BenchOutput::draw(const std::string& name, const Json& rows,
                       const std::vector<Picture>& pictures) const {
  if (folder.empty()) return;
  const auto at = std::filesystem::path(folder);
  const auto file = (at / (name + ".csv")).string();
  std::ofstream csv_file(file, std::ios::binary);
  csv_file << bench::flat(rows).csv() << std::flush;
  if (!csv_file) throw Failure(Status::failed, fmt::format("{}: cannot be written", file));
  for (const Picture& picture : pictures) {
    if (picture.figure.panels.front().series.empty()) continue;
    need(plot::draw(picture.figure, at / picture.name), Status::failed);
  }
}

}  // namespace spectr::cli
