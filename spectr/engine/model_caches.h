#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"

namespace spectr {

/// A model that another program has downloaded.
struct CachedModel {
  std::string repository;  ///< USER/REPO; empty if unknown
  std::string file;        ///< file name; for a split model, of the first part
  std::filesystem::path path;
  std::uintmax_t bytes = 0;  ///< in all parts
};

/// The folders in which Hugging Face's tools and llama.cpp keep downloads. This class only reads; it does not
/// download.
class ModelCaches {
 public:
  /// `hub` has models--USER--REPO/snapshots/REVISION/FILE, `llama` has USER_REPO_FILE.
  ModelCaches(std::filesystem::path hub, std::filesystem::path llama)
      : hub_(std::move(hub)), llama_(std::move(llama)) {}

  /// Uses $HF_HUB_CACHE, $HF_HOME/hub or ~/.cache/huggingface/hub, and $LLAMA_CACHE or ~/.cache/llama.cpp,
  /// with $XDG_CACHE_HOME instead of ~/.cache.
  static ModelCaches of_the_environment();

  /// Returns the GGUF files of all models, by repository and name, without image projectors and other files.
  std::vector<CachedModel> list() const;

  /// Finds USER/REPO[:QUANT]: the file of the repository whose name has QUANT as a word, in any case; without
  /// QUANT, the Q4_K_M or else the first; with `file`, that file. Trained drafters come after models. If
  /// neither cache has it, the error says where and how to download it.
  Result<std::filesystem::path> find(std::string_view model, std::string_view file = {}) const;
  /// Returns llama.cpp's file from that URL or, for Hugging Face's URLs, the file of its tools.
  Result<std::filesystem::path> find_url(std::string_view url) const;

 private:
  void list_hub(std::vector<CachedModel>& models) const;
  void list_llama(std::vector<CachedModel>& models) const;
  std::string looked_in() const;

  std::filesystem::path hub_, llama_;
};

/// A model of a folder, and its draft model.
struct FolderModel {
  std::string name;  ///< the file's or the subfolder's
  std::filesystem::path path;
  std::filesystem::path draft;  ///< empty: none
};

/// Returns the trained drafters next to a model: the files of its folder with its name, but for quantization
/// and words at its end, after "dflash-", "dspark-", "eagle3-" or "mtp-". They are in this order, those of a
/// kind by name.
std::vector<std::filesystem::path> drafters_next_to(const std::filesystem::path& model);

/// Returns the models of a folder, by name: its GGUF files, without image projectors and trained drafters,
/// and its subfolders, each with one model, which can be split, and optionally a draft model whose file's
/// name begins with "draft". Of several other files of a subfolder, the first by name is the model. Fails if
/// the folder cannot be read.
Result<std::vector<FolderModel>> list_folder(const std::filesystem::path& folder);

/// Returns the part of a file's name that is the quantization, such as "Q4_K_M"; empty if there is none.
std::string quantisation_of(std::string_view file);

}  // namespace spectr
