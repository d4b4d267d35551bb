#include "spectr/engine/model_caches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "spectr/base/names.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view usual_quantisation = "Q4_K_M";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// True if the text contains the word, in any case, without adjacent letters, digits and underscores.
bool has_word(std::string_view text, std::string_view word) {
  const std::string all = upper(text), sought = upper(word);
  if (sought.empty()) return false;
  for (std::size_t at = all.find(sought); at != std::string::npos; at = all.find(sought, at + 1)) {
    const std::size_t end = at + sought.size();
    const bool begins = at == 0 || !is_word_character(all[at - 1]);
    if (begins && (end == all.size() || !is_word_character(all[end]))) return true;
  }
  return false;
}

/// Returns I if the name ends in -I-of-N.gguf; else 0.
int part_of(std::string_view name) {
  constexpr std::string_view tail = "-00001-of-00001.gguf";
  if (name.size() < tail.size() || !name.ends_with(".gguf")) return 0;
  const std::string_view end = name.substr(name.size() - tail.size());
  if (end[0] != '-' || end.substr(6, 4) != "-of-") return 0;
  int part = 0;
  for (const char digit : end.substr(1, 5)) {
    if (digit < '0' || digit > '9') return 0;
    part = 10 * part + (digit - '0');
  }
  return part;
}

/// True for a complete model or the first part of one.
bool is_model(const std::string& name) {
  return name.ends_with(".gguf") && part_of(name) <= 1 && !name.contains("mmproj");
}

std::uintmax_t size_with_parts(const fs::path& path) {
  std::error_code failed;
  std::uintmax_t bytes = 0;
  std::string name = path.string();
  if (part_of(name) == 0) {
    bytes = fs::file_size(path, failed);
    return failed ? 0 : bytes;
  }
  for (int part = 1;; ++part) {
    name.replace(name.size() - 19, 5, fmt::format("{:05}", part));
    const std::uintmax_t size = fs::file_size(name, failed);
    if (failed) return bytes;
    bytes += size;
  }
}

/// Converts models--USER--REPO to USER/REPO.
std::string repository_of(std::string name) {
  constexpr std::string_view kind = "models--";
  if (!name.starts_with(kind)) return "";
  name.erase(0, kind.size());
  const std::size_t between = name.find("--");
  return between == std::string::npos ? "" : name.replace(between, 2, "/");
}

/// Returns the newest snapshot: the one in refs/main or, without it, any.
std::optional<fs::path> newest_snapshot(const fs::path& repository) {
  std::string revision;
  std::ifstream(repository / "refs" / "main") >> revision;
  std::error_code failed;
  const fs::path snapshots = repository / "snapshots";
  if (!revision.empty() && fs::is_directory(snapshots / revision, failed)) return snapshots / revision;
  std::optional<fs::path> newest;
  for (fs::directory_iterator at(snapshots, failed), end; !failed && at != end; at.increment(failed)) {
    if (!newest || at->path() > *newest) newest = at->path();
  }
  return newest;
}

/// Returns the entries of a folder by name. Fails if it cannot be read.
Result<std::vector<fs::path>> entries_of(const fs::path& folder) {
  std::error_code failed;
  std::vector<fs::path> entries;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
    entries.push_back(at->path());
  if (failed)
    return error(ErrorCode::io, "{}: cannot be read ({})", escape(folder.string()), failed.message());
  std::ranges::sort(entries);
  return entries;
}

/// Returns the name of a file without ".gguf" and the number of a part.
std::string name_of_model(const fs::path& file) {
  constexpr std::string_view part = "-00001-of-00001";
  std::string name = file.stem().string();
  if (part_of(file.filename().string()) > 0) name.resize(name.size() - part.size());
  return name;
}

// The beginnings of the names of trained drafters, in the order in which they are preferred.
constexpr std::string_view drafter_prefixes[] = {"dflash-", "dspark-", "eagle3-", "mtp-"};

/// A file's name, split at the beginning of a trained drafter's name.
struct DrafterName {
  std::size_t kind;  ///< index of the prefix
  std::string rest;  ///< the name without it
};

/// Returns nothing for names of other files. In llama.cpp's cache, the name follows that of the repository.
std::optional<DrafterName> drafter_name(std::string_view file) {
  for (std::size_t kind = 0; kind < std::size(drafter_prefixes); ++kind) {
    const std::size_t at = file.find(drafter_prefixes[kind]);
    if (at != 0 && (at == std::string_view::npos || file[at - 1] != '_')) continue;
    return DrafterName{kind, std::string(file).erase(at, drafter_prefixes[kind].size())};
  }
  return std::nullopt;
}

bool is_drafter(const fs::path& file) {
  return drafter_name(file.filename().string()).has_value();
}

/// Returns a model's name in upper case, without its quantization.
std::string unquantised(const fs::path& file) {
  std::string name = upper(name_of_model(file));
  const std::string quantisation = quantisation_of(file.filename().string());
  const std::size_t at = quantisation.empty() ? std::string::npos : name.rfind(quantisation);
  if (at == std::string::npos) return name;
  const bool has_separator = at > 0;
  return name.erase(at - (has_separator ? 1 : 0), quantisation.size() + (has_separator ? 1 : 0));
}

/// Returns the requested file among those of one repository; null if there is none.
const CachedModel* choose(const std::vector<CachedModel>& models, std::string_view repository,
                          std::string_view quantisation, std::string_view file) {
  std::vector<const CachedModel*> files;
  for (const CachedModel& model : models) {
    if (upper(model.repository) == upper(repository)) files.push_back(&model);
  }
  std::ranges::stable_partition(files, [](const CachedModel* model) { return !is_drafter(model->file); });
  const auto first = [&](auto&& fits) -> const CachedModel* {
    const auto found = std::ranges::find_if(files, fits);
    return found == files.end() ? nullptr : *found;
  };
  const auto has = [](std::string_view word) {
    return [word](const CachedModel* model) { return has_word(model->file, word); };
  };
  if (!file.empty()) return first([&](const CachedModel* model) { return model->file == file; });
  if (!quantisation.empty()) return first(has(quantisation));
  const CachedModel* usual = first(has(usual_quantisation));
  return usual != nullptr || files.empty() ? usual : files.front();
}

}  // namespace

ModelCaches ModelCaches::of_the_environment() {
  const auto first_of = [](std::initializer_list<fs::path> places) {
    return *std::ranges::find_if(places, [](const fs::path& place) { return !place.empty(); });
  };
  const auto below = [](const std::string& folder, const char* name) {
    return folder.empty() ? fs::path() : fs::path(folder) / name;
  };
  const fs::path caches =
      first_of({variable("XDG_CACHE_HOME"), below(variable("HOME"), ".cache"), fs::path(".cache")});
  return {first_of({variable("HF_HUB_CACHE"), variable("HUGGINGFACE_HUB_CACHE"),
                    below(variable("HF_HOME"), "hub"), caches / "huggingface" / "hub"}),
          first_of({variable("LLAMA_CACHE"), caches / "llama.cpp"})};
}

void ModelCaches::list_hub(std::vector<CachedModel>& models) const {
  std::error_code failed;
  for (fs::directory_iterator at(hub_, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string repository = repository_of(at->path().filename().string());
    if (repository.empty()) continue;
    const auto snapshot = newest_snapshot(at->path());
    if (!snapshot) continue;
    std::error_code unreadable;
    for (fs::recursive_directory_iterator file(*snapshot, unreadable), none; !unreadable && file != none;
         file.increment(unreadable)) {
      std::error_code broken;  // for links without a target
      const std::string name = file->path().lexically_relative(*snapshot).string();
      if (!is_model(name) || !fs::is_regular_file(file->path(), broken)) continue;
      models.push_back({repository, name, file->path(), size_with_parts(file->path())});
    }
  }
}

void ModelCaches::list_llama(std::vector<CachedModel>& models) const {
  // Manifests, manifest=USER=REPO=TAG.json, tell which prefix USER_REPO_ a file's name has.
  std::map<std::string, std::string> repositories;
  std::vector<fs::path> files;
  std::error_code failed;
  for (fs::directory_iterator at(llama_, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().filename().string();
    constexpr std::string_view manifest = "manifest=";
    if (name.starts_with(manifest)) {
      const std::size_t user = name.find('=', manifest.size());
      const std::size_t repository = user == std::string::npos ? user : name.find('=', user + 1);
      if (repository == std::string::npos) continue;
      const std::string owner = name.substr(manifest.size(), user - manifest.size());
      const std::string rest = name.substr(user + 1, repository - user - 1);
      repositories[fmt::format("{}_{}_", owner, rest)] = fmt::format("{}/{}", owner, rest);
    }
    std::error_code broken;
    if (is_model(name) && fs::is_regular_file(at->path(), broken)) files.push_back(at->path());
  }
  for (const fs::path& path : files) {
    const std::string name = path.filename().string();
    CachedModel model{"", name, path, size_with_parts(path)};
    // One repository's prefix can begin another's, as u_r_ begins u_r_v2_; use the longest match.
    std::size_t longest = 0;
    for (const auto& [prefix, repository] : repositories) {
      if (prefix.size() <= longest || !name.starts_with(prefix)) continue;
      longest = prefix.size();
      model.repository = repository;
    }
    model.file.erase(0, longest);
    models.push_back(std::move(model));
  }
}

std::vector<CachedModel> ModelCaches::list() const {
  std::vector<CachedModel> models;
  list_hub(models);
  list_llama(models);
  std::ranges::stable_sort(models, {},
                           [](const CachedModel& model) { return std::tie(model.repository, model.file); });
  return models;
}

std::string ModelCaches::looked_in() const {
  return fmt::format("looked in {} and {}; nothing is downloaded here", hub_.string(), llama_.string());
}

Result<fs::path> ModelCaches::find(std::string_view model, std::string_view file) const {
  const std::size_t colon = model.find(':');
  const std::string_view repository = model.substr(0, colon);
  const std::string_view quantisation =
      colon == std::string_view::npos ? std::string_view() : model.substr(colon + 1);
  const std::size_t slash = repository.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == repository.size() ||
      repository.find('/', slash + 1) != std::string_view::npos) {
    return error("'{}' is no model of Hugging Face: USER/REPO or USER/REPO:QUANT", escape(model));
  }
  std::vector<CachedModel> models = list();
  // A file of llama.cpp without a manifest belongs to the repository that its name begins with.
  const std::string prefix = fmt::format("{}_{}_", repository.substr(0, slash), repository.substr(slash + 1));
  for (CachedModel& one : models) {
    if (!one.repository.empty() || !one.file.starts_with(prefix)) continue;
    one.repository = repository;
    one.file.erase(0, prefix.size());
  }
  if (const CachedModel* found = choose(models, repository, quantisation, file)) return found->path;
  std::string others;
  for (const CachedModel& one : models) {
    if (upper(one.repository) == upper(repository)) others += (others.empty() ? "" : ", ") + one.file;
  }
  if (!others.empty()) others = fmt::format(" (of this repository there is {})", others);
  const std::string wanted =
      !file.empty() ? std::string(file)
                    : fmt::format("*{}*.gguf", quantisation.empty() ? usual_quantisation : quantisation);
  return error("{} is in no cache{}: {}. This downloads it: hf download {} --include '{}'", escape(model),
               others, looked_in(), escape(repository), escape(wanted));
}

Result<fs::path> ModelCaches::find_url(std::string_view url) const {
  const std::string_view address = url.substr(0, url.find_first_of("?#"));
  const std::string_view name = address.substr(address.rfind('/') + 1);  // npos + 1 is 0
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    return error("'{}' is no address: it must begin with https://", escape(url));
  if (!name.ends_with(".gguf")) return error("'{}' is no address of a .gguf file", escape(url));
  std::error_code failed;
  if (fs::path path = llama_ / name; fs::is_regular_file(path, failed)) return path;
  // https://huggingface.co/USER/REPO/resolve/REVISION/FILE
  constexpr std::string_view host = "https://huggingface.co/", resolve = "/resolve/";
  if (const std::size_t at = address.find(resolve);
      address.starts_with(host) && at != std::string_view::npos) {
    const std::string_view repository = address.substr(host.size(), at - host.size());
    const std::string_view behind = address.substr(at + resolve.size());
    return find(repository, behind.substr(behind.find('/') + 1));
  }
  return error("{} is in no cache: {}. This downloads it: curl -L -o {} {}", escape(url, 200), looked_in(),
               (llama_ / name).string(), escape(url, 200));
}

std::vector<fs::path> drafters_next_to(const fs::path& model) {
  struct Found {
    std::size_t kind;
    fs::path path;
  };
  std::vector<Found> found;
  const std::string target = unquantised(model);
  const fs::path folder = model.has_parent_path() ? model.parent_path() : fs::path(".");
  const auto entries = entries_of(folder);
  if (!entries) return {};
  for (const fs::path& entry : *entries) {
    const std::string name = entry.filename().string();
    const auto drafter = is_model(name) ? drafter_name(name) : std::nullopt;
    if (!drafter) continue;
    const std::string own = unquantised(drafter->rest);
    const bool fits = !own.empty() && target.starts_with(own) &&
                      (target.size() == own.size() || !is_word_character(target[own.size()]));
    std::error_code broken;
    if (fits && fs::is_regular_file(entry, broken)) found.push_back({drafter->kind, entry});
  }
  std::ranges::stable_sort(found, {}, &Found::kind);
  std::vector<fs::path> paths;
  for (Found& one : found) paths.push_back(std::move(one.path));
  return paths;
}

Result<std::vector<FolderModel>> list_folder(const fs::path& folder) {
  std::vector<FolderModel> models;
  SPECTR_TRY(const std::vector<fs::path> entries, entries_of(folder));
  for (const fs::path& entry : entries) {
    std::error_code failed;
    if (!fs::is_directory(entry, failed)) {
      if (is_model(entry.filename().string()) && !is_drafter(entry))
        models.push_back({name_of_model(entry), entry, {}});
      continue;
    }
    FolderModel model{entry.filename().string(), {}, {}};
    SPECTR_TRY(const std::vector<fs::path> files, entries_of(entry));
    for (const fs::path& file : files) {
      const std::string name = file.filename().string();
      fs::path& place = name.starts_with("draft") ? model.draft : model.path;
      if (is_model(name) && !is_drafter(file) && place.empty()) place = file;
    }
    if (!model.path.empty()) models.push_back(std::move(model));
  }
  return models;
}

std::string quantisation_of(std::string_view file) {
  // Find a word that is a tensor type, optionally followed by the size of a mixture.
  std::string_view rest = file.substr(0, file.size() - (file.ends_with(".gguf") ? 5 : 0));
  if (part_of(file) > 0) rest = file.substr(0, file.size() - 20);
  for (std::size_t end = rest.size(); end > 0;) {
    std::size_t begin = end;
    while (begin > 0 && is_word_character(rest[begin - 1])) --begin;
    const std::string word = upper(rest.substr(begin, end - begin));
    const auto numbered = [&](std::string_view stem) {
      return word.starts_with(stem) && word.size() > stem.size() && word[stem.size()] >= '0' &&
             word[stem.size()] <= '9';
    };
    if (numbered("Q") || numbered("IQ") || numbered("TQ") || word == "F16" || word == "BF16" ||
        word == "F32" || word.starts_with("MXFP4")) {
      return word;
    }
    end = begin == 0 ? 0 : begin - 1;
  }
  return "";
}

}  // namespace spectr
