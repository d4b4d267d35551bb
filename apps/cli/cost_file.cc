#include "apps/cli/cost_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/cli/failure.h"
#include "apps/cli/processor_name.h"
#include "apps/cli/text_input.h"
#include "spectr/backend/cpu/machine_speed.h"
#include "spectr/base/hash.h"
#include "spectr/base/version.h"
#include "spectr/decode/auto/measure_costs.h"

namespace spectr::cli {
namespace {

namespace fs = std::filesystem;

/// Empty where there is no place for it.
std::string default_path() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return std::string(cache) + "/spectr/costs.json";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return std::string(home) + "/.cache/spectr/costs.json";
  return {};
}

/// Over the formats and shapes of all weights, which decide what passes cost.
std::uint64_t layout_of(const ModelSpec& spec) {
  Fnv1a hash;
  for (const WeightSpec& weight : spec.weights) {
    hash.add(static_cast<std::uint64_t>(weight.type));
    hash.add(weight.rows);
    hash.add(weight.cols);
  }
  return hash.value();
}

/// The models, the target first.
std::string key_of(std::span<const Transformer* const> models, int threads) {
  std::string key;
  for (const Transformer* model : models) {
    key += fmt::format("{} ({} bytes of weights, layout {:016x}, keys {}, values {}) | ", model->spec().name,
                       model->weight_bytes(), layout_of(model->spec()), name_of(model->kv().keys),
                       name_of(model->kv().values));
  }
  return fmt::format("{}{} threads | {} with {} | spectr {}", key, threads, processor_name(),
                     instruction_set(), version());
}

Json to_json(const CostCurve& curve) {
  Json points = Json::array();
  for (const CostCurve::Point& p : curve.points()) points.push_back({p.rows, p.seconds});
  return {{"passes", std::move(points)},
          {"behind", curve.attention().behind},
          {"attention", curve.attention().per_token}};
}

Json to_json(const Costs& costs) {
  Json drafts = Json::array();
  for (const DraftCosts& draft : costs.drafts) {
    drafts.push_back(to_json(draft.passes));
    drafts.back()["alternation"] = draft.alternation;
    if (draft.reading) drafts.back()["reading"] = *draft.reading;
  }
  const SelectCosts& select = costs.select;
  return {{"target", to_json(costs.target)},
          {"drafts", std::move(drafts)},
          {"select",
           {{"law", select.distribution},
            {"filtered", select.filtered},
            {"likelihood", select.likelihood},
            {"one", select.one},
            {"several", select.several}}}};
}

std::size_t count_from(const Json& count) {
  if (!count.is_number_unsigned()) throw std::out_of_range("count");
  return count.get<std::size_t>();
}

double seconds_from(const Json& seconds) {
  const auto read = seconds.get<double>();
  if (!(read >= 0.0)) throw std::out_of_range("seconds");
  return read;
}

CostCurve curve_from(const Json& curve) {
  std::vector<CostCurve::Point> read;
  for (const Json& p : curve.at("passes")) {
    read.push_back({count_from(p.at(0)), p.at(1).get<double>()});
    if (read.back().rows < 1 || !(read.back().seconds > 0.0)) throw std::out_of_range("points");
    if (read.size() < 2) continue;
    const CostCurve::Point& before = read[read.size() - 2];
    if (before.rows >= read.back().rows || before.seconds > read.back().seconds)
      throw std::out_of_range("points");
  }
  if (read.empty()) throw std::out_of_range("points");
  return CostCurve(std::move(read), {.behind = count_from(curve.at("behind")),
                                     .per_token = seconds_from(curve.at("attention"))});
}

/// What an entry says of so many draft models; none where it is not of this form.
std::optional<Costs> costs_from(const Json& entry, std::size_t draft_models) {
  try {
    std::vector<DraftCosts> drafts;
    for (const Json& draft : entry.at("drafts")) {
      drafts.push_back(
          {curve_from(draft), seconds_from(draft.at("alternation")), seconds_from(draft.at("reading"))});
    }
    if (drafts.size() != draft_models) throw std::out_of_range("drafts");
    const Json& select = entry.at("select");
    return Costs{curve_from(entry.at("target")),
                 std::move(drafts),
                 {seconds_from(select.at("law")), seconds_from(select.at("filtered")),
                  seconds_from(select.at("likelihood")), seconds_from(select.at("one")),
                  seconds_from(select.at("several"))}};
  } catch (const Json::exception&) {
    return std::nullopt;
  } catch (const std::out_of_range&) {
    return std::nullopt;
  }
}

/// Measured now, which takes seconds: an entry, which says where the machine was busy meanwhile.
Json measure(const Transformer& target, std::span<const Transformer* const> drafts) {
  fmt::print(stderr, "measuring what passes of these models cost, once for this machine\n");
  const MeasuredCosts measured =
      need(measure_costs(target, std::vector<const LanguageModel*>(drafts.begin(), drafts.end())));
  Json entry = to_json(measured.costs);
  if (measured.disturbed()) entry["disturbed"] = measured.spread;
  return entry;
}

/// Where the machine was busy when an entry was measured, says so.
void warn_of_disturbance(const Json& entry, const std::string& path) {
  const auto spread = entry.find("disturbed");
  if (spread == entry.end() || !spread->is_number()) return;
  fmt::print(stderr,
             "the machine was busy when passes were measured: they took {:.1f} times as long as they can, so "
             "the costs may be wrong{}\n",
             spread->get<double>(),
             path.empty() ? "" : fmt::format("; delete {} to have them measured again", path));
}

/// Whether a file holds entries of costs, of this version or of others, and nothing else.
bool holds_costs(const Json& all) {
  return all.is_object() && std::ranges::all_of(all, [](const Json& entry) {
           return entry.is_object() && entry.contains("target");
         });
}

/// Where a file is, or its links lead to.
fs::path place_of(const std::string& name) {
  std::error_code failed;
  fs::path place = name;
  for (int links = 0; links < 40 && fs::is_symlink(place, failed); ++links)
    place = place.parent_path() / fs::read_symlink(place, failed);
  return place;
}

/// Makes the folder of a file. Returns why that file cannot be replaced, if it cannot.
std::error_code prepare(const fs::path& path) {
  std::error_code failed;
  if (fs::exists(path, failed) && access(path.c_str(), W_OK) != 0)
    return {errno, std::generic_category()};  // to rename, a folder's permission would do
  const fs::path folder = fs::absolute(path, failed).parent_path();
  if (!failed) fs::create_directories(folder, failed);
  if (!failed && access(folder.c_str(), W_OK) != 0) failed.assign(errno, std::generic_category());
  return failed;
}

std::string unwritable(const std::string& path, std::error_code why) {
  return fmt::format("'{}' cannot be written: {}", path, why.message());
}

/// Writes the file aside and renames it, so that a reader never sees half of it, and a disk that is full
/// leaves the old one. A link stays, and leads to what is written; so do permissions. Returns why it cannot
/// be done, if it cannot.
std::error_code replace_file(const fs::path& place, const std::string& contents) {
  std::error_code failed = prepare(place);
  if (failed) return failed;
  const std::string path = place.string();
  // Containers that share the folder have process numbers of their own.
  const std::string aside = fmt::format("{}.{}-{:08x}", path, getpid(), std::random_device{}());
  errno = 0;
  std::ofstream file(aside, std::ios::binary);
  file << contents;
  file.close();
  if (file) {
    std::error_code is_new;
    const fs::file_status old = fs::status(place, is_new);
    if (fs::exists(old)) fs::permissions(aside, old.permissions(), failed);
    if (!failed) fs::rename(aside, path, failed);
  } else {
    failed.assign(errno != 0 ? errno : EIO, std::generic_category());
  }
  std::error_code ignored;
  if (failed) fs::remove(aside, ignored);
  return failed;
}

/// Keeps other programs from measuring while this one does, which would disturb both: they wait, and find
/// what this one has kept. The folder of the file is locked; where it cannot be, as on some network file
/// systems, nobody waits.
class MeasuringAlone {
 public:
  explicit MeasuringAlone(const std::string& file) {
    if (file.empty()) return;
    std::error_code failed;
    const fs::path folder = fs::absolute(file, failed).parent_path();
    fs::create_directories(folder, failed);
    folder_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_ < 0 || ::flock(folder_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    fmt::print(stderr, "another program measures what passes cost: waiting for it\n");
    while (::flock(folder_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~MeasuringAlone() {
    if (folder_ >= 0) ::close(folder_);
  }
  MeasuringAlone(const MeasuringAlone&) = delete;
  MeasuringAlone& operator=(const MeasuringAlone&) = delete;

 private:
  int folder_ = -1;
};

}  // namespace

CostFile::CostFile(const std::optional<std::string>& path)
    : path_(path.value_or(default_path())), named_(path.has_value()) {}

Result<Json> CostFile::read() const {
  std::error_code unknown;
  const bool there = !path_.empty() && fs::exists(path_, unknown);
  if (unknown) return error("{}: {}", path_, unknown.message());
  if (!there) return Json::object();
  try {
    Json all = Json::parse(read_file(path_), nullptr, false);
    if (holds_costs(all)) return all;
    return error("{}: is not a file of measured costs", path_);
  } catch (const Failure& failure) {
    return error("{}", failure.what());
  }
}

Json CostFile::usable(Result<Json> entries) const {
  return named_ ? need(std::move(entries)) : entries.value_or(Json::object());
}

bool CostFile::write(const Json& all) const {
  if (path_.empty()) {
    fmt::print(stderr, "neither XDG_CACHE_HOME nor HOME is set: the costs are not kept\n");
    return false;
  }
  const std::error_code failed = replace_file(place_of(path_), all.dump(1) + "\n");
  if (!failed) return true;
  const std::string problem = unwritable(path_, failed);
  if (named_) throw Failure(Status::failed, problem);
  fmt::print(stderr, "{}; the costs are measured again next time (--cost-file names another place)\n",
             problem);
  return false;
}

std::shared_ptr<const Costs> CostFile::costs(const Transformer& target,
                                             std::span<const Transformer* const> drafts, int threads,
                                             std::size_t texts) const {
  std::vector<const Transformer*> models = {&target};
  models.insert(models.end(), drafts.begin(), drafts.end());
  const std::string key = key_of(models, threads);
  bool kept = true;
  const auto known_of = [&](const Json& all) -> std::optional<Costs> {
    if (!all.contains(key)) return std::nullopt;
    auto costs = costs_from(all.at(key), drafts.size());
    // What another version of this program has left in the default file is measured again.
    if (!costs && named_) {
      throw Failure(Status::usage,
                    fmt::format("{}: the entry '{}' does not hold the costs of these models", path_, key));
    }
    if (costs) warn_of_disturbance(all.at(key), kept ? path_ : "");
    return costs;
  };
  const Result<Json> stored = read();
  if (!stored && !named_) fmt::print(stderr, "{}: the costs are measured again\n", stored.error().message);
  std::optional<Costs> costs = known_of(usable(stored));
  if (!costs) {
    const MeasuringAlone alone(path_);
    costs = known_of(usable(read()));  // somebody else may have been faster
    if (!costs) {
      if (const auto failed = named_ ? prepare(place_of(path_)) : std::error_code())
        throw Failure(Status::failed, unwritable(path_, failed));  // before it takes seconds
      const Json measured = measure(target, drafts);
      Json all = usable(read());
      costs = known_of(all);  // or, where nobody waits, meanwhile: all go by the entry that came first
      if (!costs) {
        all[key] = measured;
        kept = write(all);
        costs = known_of(all);
      }
    }
  }
  const auto shared = std::make_shared<const Costs>(costs->shared(texts));
  fmt::print(stderr, "costs of passes: {}, hash {:016x}\n", kept ? path_ : "not kept", shared->hash());
  return shared;
}

}  // namespace spectr::cli
