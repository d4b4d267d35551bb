#include "apps/cli/kept_measurements.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <system_error>
#include <utility>

#include "apps/cli/failure.h"
#include "apps/cli/text_input.h"

namespace spectr::cli {
namespace {

namespace fs = std::filesystem;

/// Empty where there is no place for it.
std::string default_path() {
  const std::string folder = measurements_folder();
  return folder.empty() ? folder : folder + "/costs.json";
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
    fmt::print(stderr, "another spectr measures this machine: waiting for it\n");
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

/// Holds the lock of a file while it is read, edited and replaced, so that no other program's edit is lost.
/// The lock is that of the file which is there: replacing it by another one releases it to the next program.
/// A file that is missing has no lock, and where locks do not exist, as on some network file systems, nobody
/// waits.
class EditingAlone {
 public:
  explicit EditingAlone(const std::string& path) {
    for (;;) {
      file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
      if (file_ < 0) return;
      while (::flock(file_, LOCK_EX) != 0 && errno == EINTR) {
      }
      struct stat locked{}, there{};
      const bool replaced = ::fstat(file_, &locked) == 0 && ::stat(path.c_str(), &there) == 0 &&
                            (locked.st_dev != there.st_dev || locked.st_ino != there.st_ino);
      if (!replaced) return;
      ::close(file_);
    }
  }
  ~EditingAlone() {
    if (file_ >= 0) ::close(file_);
  }
  EditingAlone(const EditingAlone&) = delete;
  EditingAlone& operator=(const EditingAlone&) = delete;

 private:
  int file_ = -1;
};

}  // namespace

std::string measurements_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return std::string(cache) + "/spectr";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return std::string(home) + "/.cache/spectr";
  return {};
}

KeptMeasurements::KeptMeasurements(const std::optional<std::string>& path)
    : path_(path.value_or(default_path())), named_(path.has_value()) {}

Result<Json> KeptMeasurements::read() const {
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

Json KeptMeasurements::usable(Result<Json> entries) const {
  return named_ ? need(std::move(entries)) : entries.value_or(Json::object());
}

bool KeptMeasurements::write(const Json& all) const {
  if (path_.empty()) {
    fmt::print(stderr, "neither XDG_CACHE_HOME nor HOME is set: what was measured is not kept\n");
    return false;
  }
  const std::error_code failed = replace_file(place_of(path_), all.dump(1) + "\n");
  if (!failed) return true;
  const std::string problem = unwritable(path_, failed);
  if (named_) throw Failure(Status::failed, problem);
  fmt::print(stderr, "{}; the next run measures again (--cost-file names another file)\n", problem);
  return false;
}

KeptMeasurements::Entry KeptMeasurements::entry(const std::string& key,
                                                const std::function<bool(const Json&)>& holds,
                                                const std::function<Json()>& measure) const {
  const auto has = [&](const Json& all) { return all.contains(key) && holds(all.at(key)); };
  const Result<Json> stored = read();
  if (!stored && !named_) fmt::print(stderr, "{}: the machine is measured again\n", stored.error().message);
  Json all = usable(stored);
  if (has(all)) return {all.at(key), true};
  const MeasuringAlone alone(path_);
  all = usable(read());
  if (has(all)) return {all.at(key), true};  // somebody else was faster
  if (const auto failed = named_ ? prepare(place_of(path_)) : std::error_code())
    throw Failure(Status::failed, unwritable(path_, failed));  // before it takes seconds
  Json measured = measure();
  const EditingAlone editing(path_);
  all = usable(read());
  if (has(all)) return {all.at(key), true};  // where nobody waits: all go by the entry that came first
  all[key] = measured;
  const bool kept = write(all);
  return {std::move(measured), kept};
}

void KeptMeasurements::change(const std::string& key, const std::function<void(Json&)>& change) const {
  const EditingAlone editing(path_);
  Result<Json> all = read();
  if (!all || !all->contains(key)) return;
  const Json before = all->at(key);
  change(all->at(key));
  if (all->at(key) != before) (void)write(*all);
}

}  // namespace spectr::cli
