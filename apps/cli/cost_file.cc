#include "apps/cli/cost_file.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "apps/cli/failure.h"
#include "apps/cli/json_output.h"
#include "apps/cli/processor_name.h"
#include "apps/cli/text_input.h"
#include "spectr/decode/auto_drafter.h"
#include "spectr/decode/stopwatch.h"
#include "spectr/sampling/warp.h"
#include "spectr/transport/k_seq.h"

namespace spectr::cli {
namespace {

constexpr std::size_t widths[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, AutoDrafter::most_rows};
constexpr std::size_t depth = 32;

std::string default_path() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return std::string(cache) + "/spectr/costs.json";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return std::string(home) + "/.cache/spectr/costs.json";
  throw Failure(Status::usage,
                "no place for measured costs: neither XDG_CACHE_HOME nor HOME is set; give --cost-file");
}

std::string key_of(const LoadedModel& target, const LoadedModel& draft, int threads) {
  const auto one = [](const LoadedModel& model) {
    return fmt::format("{} ({} bytes of weights)", model.transformer->config().name,
                       model.transformer->weight_bytes());
  };
  return fmt::format("{} | {} | {} threads | {}", one(target), one(draft), threads, processor_name());
}

CostCurve measure(const LoadedModel& model) {
  const std::size_t context = model.transformer->config().context;
  return need(CostCurve::measure(*model.transformer, widths, std::min(depth, context - 1)), Status::failed);
}

/// Seconds of warping a row and building k-Seq for it, without filters: the most that a node can cost.
double measure_select(const LoadedModel& target) {
  const auto session = need(target.transformer->start(1, 1), Status::failed);
  const Token text[] = {0};
  need(session->score(text, TokenTree(0)), Status::failed);
  const Warp warp = need(Warp::make(WarpOptions::none()));
  double least = 1.0;
  for (int i = 0; i < 8; ++i) {
    Stopwatch watch;
    const auto law = need(warp.law(session->logits(TokenTree::root), {}, target.transformer->vocabulary()));
    (void)need(build_k_seq(DraftLaws(law, 4), law, {}));
    least = std::min(least, watch.lap());
  }
  return least;
}

Json to_json(const CostCurve& curve) {
  Json points = Json::array();
  for (const CostCurve::Point& p : curve.points()) points.push_back({p.rows, p.seconds});
  return points;
}

CostCurve curve_from(const Json& points) {
  std::vector<CostCurve::Point> read;
  for (const Json& p : points) {
    read.push_back({p.at(0).get<std::size_t>(), p.at(1).get<double>()});
    const bool ascending = read.size() < 2 || read[read.size() - 2].rows < read.back().rows;
    if (read.back().rows < 1 || !(read.back().seconds > 0.0) || !ascending) throw std::out_of_range("points");
  }
  if (read.size() < 2) throw std::out_of_range("points");
  return CostCurve(std::move(read));
}

void write_file(const std::string& path, const std::string& contents) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (const fs::path folder = fs::path(path).parent_path(); !folder.empty())
    fs::create_directories(folder, failed);
  // Written aside and renamed, so that a reader never sees half a file.
  const std::string aside = fmt::format("{}.{}", path, getpid());
  std::ofstream(aside, std::ios::binary) << contents;
  fs::rename(aside, path, failed);
  if (failed) throw Failure(Status::failed, fmt::format("{}: cannot be written: {}", path, failed.message()));
}

}  // namespace

CostFile::CostFile(std::optional<std::string> path) : path_(path ? *std::move(path) : default_path()) {}

std::shared_ptr<const Costs> CostFile::costs(const LoadedModel& target, const LoadedModel& draft,
                                             int threads) const {
  Json all = Json::object();
  if (std::filesystem::exists(path_)) {
    all = Json::parse(read_file(path_), nullptr, false);
    if (!all.is_object())
      throw Failure(Status::usage, fmt::format("{}: is no file of measured costs", path_));
  }
  const std::string key = key_of(target, draft, threads);
  if (!all.contains(key)) {
    all[key] = {{"target", to_json(measure(target))},
                {"draft", to_json(measure(draft))},
                {"select", measure_select(target)}};
    write_file(path_, all.dump(1) + "\n");
  }
  try {
    const Json& entry = all.at(key);
    return std::make_shared<Costs>(Costs{curve_from(entry.at("target")), curve_from(entry.at("draft")),
                                         entry.at("select").get<double>()});
  } catch (const std::exception&) {
    throw Failure(Status::usage, fmt::format("{}: the entry '{}' is no pair of cost curves", path_, key));
  }
}

}  // namespace spectr::cli
