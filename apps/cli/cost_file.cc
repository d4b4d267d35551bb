#include "apps/cli/cost_file.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "apps/cli/failure.h"
#include "apps/cli/processor_name.h"
#include "apps/cli/text_input.h"
#include "spectr/base/stopwatch.h"
#include "spectr/decode/auto_drafter.h"
#include "spectr/sampling/warp.h"
#include "spectr/transport/k_seq.h"

namespace spectr::cli {
namespace {

constexpr std::size_t widths[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, AutoDrafter::most_rows};
constexpr std::size_t depth = 32;

/// Empty where there is no place for it.
std::string default_path() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return std::string(cache) + "/spectr/costs.json";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return std::string(home) + "/.cache/spectr/costs.json";
  return {};
}

std::string key_of(const Transformer& target, const Transformer& draft, int threads) {
  const auto one = [](const Transformer& model) {
    return fmt::format("{} ({} bytes of weights)", model.config().name, model.weight_bytes());
  };
  return fmt::format("{} | {} | {} threads | {}", one(target), one(draft), threads, processor_name());
}

CostCurve measure(const Transformer& model) {
  return need(CostCurve::measure(model, widths, std::min(depth, model.config().context - 1)), Status::failed);
}

/// Seconds of warping a row and building k-Seq for it, without filters: the most that a node can cost.
double measure_select(const Transformer& target) {
  const auto session = need(target.start(1, 1), Status::failed);
  const Token text[] = {0};
  need(session->score(text, TokenTree(0)), Status::failed);
  const Warp warp = need(Warp::make(WarpOptions::none()));
  double least = 1.0;
  for (int i = 0; i < 8; ++i) {
    Stopwatch watch;
    const auto law = need(warp.law(session->logits(TokenTree::root), {}, target.vocabulary()));
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

/// What the file holds; nothing where there is none.
Json read(const std::string& path) {
  if (path.empty() || !std::filesystem::exists(path)) return Json::object();
  Json all = Json::parse(read_file(path), nullptr, false);
  if (!all.is_object()) throw Failure(Status::usage, fmt::format("{}: is no file of measured costs", path));
  return all;
}

}  // namespace

CostFile::CostFile(std::optional<std::string> path)
    : path_(path.value_or(default_path())), named_(path.has_value()) {}

void CostFile::write(const Json& all) const {
  namespace fs = std::filesystem;
  if (path_.empty())
    return fmt::print(stderr, "neither XDG_CACHE_HOME nor HOME is set: the costs are not kept\n");
  std::error_code failed;
  if (const fs::path folder = fs::path(path_).parent_path(); !folder.empty())
    fs::create_directories(folder, failed);
  // Written aside and renamed, so that a reader never sees half a file.
  const std::string aside = fmt::format("{}.{}", path_, getpid());
  std::ofstream(aside, std::ios::binary) << all.dump(1) << "\n";
  fs::rename(aside, path_, failed);
  if (!failed) return;
  const std::string problem = fmt::format("'{}' cannot be written: {}", path_, failed.message());
  if (named_) throw Failure(Status::failed, problem);
  fmt::print(stderr, "{}; the costs are measured again next time (--cost-file names another place)\n",
             problem);
}

std::shared_ptr<const Costs> CostFile::costs(const Transformer& target, const Transformer& draft,
                                             int threads) const {
  const std::string key = key_of(target, draft, threads);
  Json all = read(path_);
  if (!all.contains(key)) {
    fmt::print(stderr, "measuring what passes of these models cost, once for this machine\n");
    const Json measured = {{"target", to_json(measure(target))},
                           {"draft", to_json(measure(draft))},
                           {"select", measure_select(target)}};
    all = read(path_);  // somebody else may have been faster: all go by the entry that came first
    if (!all.contains(key)) {
      all[key] = measured;
      write(all);
    }
  }
  try {
    const Json& entry = all.at(key);
    auto costs = std::make_shared<Costs>(Costs{curve_from(entry.at("target")), curve_from(entry.at("draft")),
                                               entry.at("select").get<double>()});
    fmt::print(stderr, "costs of passes: {}, hash {:016x}\n", path_.empty() ? "not kept" : path_,
               costs->hash());
    return costs;
  } catch (const Json::exception&) {
  } catch (const std::out_of_range&) {
  }
  throw Failure(Status::usage, fmt::format("{}: the entry '{}' is no pair of cost curves", path_, key));
}

}  // namespace spectr::cli
