#include "spectr/engine/costs/kept_measurements.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "spectr/base/os/files.h"
#include "spectr/base/temporary_name.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;

/// Entries in insertion order.
using Entries = nlohmann::ordered_json;

/// Returns an empty path if there is no folder for the file.
std::string default_path() {
  const std::string folder = measurements_folder();
  return folder.empty() ? folder : folder + "/costs.json";
}

/// True if a file has only entries of costs, of this version or others.
bool holds_costs(const Entries& all) {
  return all.is_object() && std::ranges::all_of(all, [](const Entries& entry) {
           return entry.is_object() && entry.contains("target");
         });
}

/// Returns the path of a file, following links.
fs::path place_of(const std::string& name) {
  std::error_code failed;
  fs::path place = name;
  for (int links = 0; links < 40 && fs::is_symlink(place, failed); ++links)
    place = place.parent_path() / fs::read_symlink(place, failed);
  return place;
}

/// Creates the folder of a file. Returns an error if that file cannot be replaced.
std::error_code prepare(const fs::path& path) {
  std::error_code failed;
  if (fs::exists(path, failed)) failed = check_writable(path);  // the folder's would suffice for the rename
  if (failed) return failed;
  const fs::path folder = fs::absolute(path, failed).parent_path();
  if (!failed) fs::create_directories(folder, failed);
  return failed ? failed : check_writable(folder);
}

std::string unwritable(const std::string& path, std::error_code why) {
  return fmt::format("'{}' cannot be written: {}", path, why.message());
}

/// Returns the entries of a file; empty if there is no file.
Result<Entries> read_entries(const std::string& path) {
  std::error_code unknown;
  const bool there = !path.empty() && fs::exists(path, unknown);
  if (unknown) return error(ErrorCode::io, "{}: {}", path, unknown.message());
  if (!there) return Entries::object();
  if (fs::is_directory(path, unknown)) return error(ErrorCode::io, "{}: is a directory", path);
  std::ifstream file(path, std::ios::binary);
  if (!file) return error(ErrorCode::io, "{}: {}", path, std::strerror(errno));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) return error(ErrorCode::io, "{}: cannot be read", path);
  Entries all = Entries::parse(text, nullptr, false);
  if (!holds_costs(all)) return error("{}: is not a file of measured costs", path);
  return all;
}

/// Writes a temporary file and renames it, so that readers never see a partial file, and a full disk
/// leaves the old one intact. Links and permissions are preserved. Returns an error if that is not
/// possible.
std::error_code replace_file(const fs::path& place, const std::string& contents) {
  std::error_code failed = prepare(place);
  if (failed) return failed;
  const std::string path = place.string();
  const std::string aside = temporary_name(path);
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

/// Keeps other programs from measuring at the same time, which would disturb both: they wait and then find
/// this program's result. Locks the folder of the file.
class MeasuringAlone {
 public:
  MeasuringAlone(const std::string& file, const KeptMeasurements::Tell& tell) {
    if (file.empty()) return;
    std::error_code failed;
    const fs::path folder = fs::absolute(file, failed).parent_path();
    fs::create_directories(folder, failed);
    lock_.emplace(folder);
    if (lock_->try_lock()) return;
    if (tell) tell("another spectr measures this machine: waiting for it");
    lock_->lock();
  }

 private:
  std::optional<FileLock> lock_;
};

}  // namespace

std::string measurements_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return std::string(cache) + "/spectr";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return std::string(home) + "/.cache/spectr";
  return {};
}

KeptMeasurements::KeptMeasurements(const std::optional<std::string>& path, Tell tell)
    : path_(path.value_or(default_path())), named_(path.has_value()), tell_(std::move(tell)) {
  if (!tell_) tell_ = [](const std::string&) {};
}

Result<KeptMeasurements::Entry> KeptMeasurements::entry(
    const std::string& key, const std::function<Result<bool>(std::string_view json)>& holds,
    const std::function<Result<std::string>()>& measure) const {
  // Returns the usable entry of the key; none if it has to be measured.
  const auto find = [&](const Result<Entries>& all) -> Result<std::optional<std::string>> {
    if (!all && named_) return std::unexpected(all.error());
    if (!all || !all->contains(key)) return std::nullopt;
    std::string json = all->at(key).dump();
    SPECTR_TRY(const bool usable, holds(json));
    return usable ? std::optional(std::move(json)) : std::nullopt;
  };
  const Result<Entries> stored = read_entries(path_);
  if (!stored && !named_) tell_(fmt::format("{}: the machine is measured again", stored.error().message));
  SPECTR_TRY(std::optional<std::string> found, find(stored));
  if (found) return Entry{*std::move(found), true};
  const MeasuringAlone alone(path_, tell_);
  SPECTR_TRY(found, find(read_entries(path_)));
  if (found) return Entry{*std::move(found), true};  // another program was faster
  if (const auto failed = named_ ? prepare(place_of(path_)) : std::error_code())
    return error(ErrorCode::internal, "{}", unwritable(path_, failed));  // fail before measuring
  SPECTR_TRY(std::string measured, measure());
  FileLock editing(path_);
  editing.lock();
  Result<Entries> all = read_entries(path_);
  SPECTR_TRY(found, find(all));
  if (found) return Entry{*std::move(found), true};  // without locks, the first entry wins
  if (!all) all = Entries::object();
  (*all)[key] = Entries::parse(measured);
  SPECTR_TRY(const bool kept, write(all->dump(1) + "\n"));
  return Entry{std::move(measured), kept};
}

Result<bool> KeptMeasurements::write(const std::string& contents) const {
  if (path_.empty()) {
    tell_("neither XDG_CACHE_HOME nor HOME is set: what was measured is not kept");
    return false;
  }
  const std::error_code failed = replace_file(place_of(path_), contents);
  if (!failed) return true;
  const std::string problem = unwritable(path_, failed);
  if (named_) return error(ErrorCode::internal, "{}", problem);
  tell_(problem + "; the next run measures again (--cost-file names another file)");
  return false;
}

Result<void> KeptMeasurements::change(const std::string& key,
                                      const std::function<std::string(std::string_view json)>& change) const {
  FileLock editing(path_);  // without it, an edit by another program would be lost
  editing.lock();
  Result<Entries> all = read_entries(path_);
  if (!all || !all->contains(key)) return {};
  Entries& entry = all->at(key);
  Entries changed = Entries::parse(change(entry.dump()));
  if (changed == entry) return {};
  entry = std::move(changed);
  SPECTR_TRY_VOID(write(all->dump(1) + "\n"));
  return {};
}

}  // namespace spectr
