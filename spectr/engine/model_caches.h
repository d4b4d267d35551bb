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
  std::string repository;  ///< USER/REPO; empty where nobody says it
  std::string file;        ///< its name in there; of several parts the first
  std::filesystem::path path;
  std::uintmax_t bytes = 0;  ///< of all parts
};

/// The folders in which Hugging Face's tools and llama.cpp keep what they download. Nothing is downloaded
/// here, and nothing written.
class ModelCaches {
 public:
  /// `hub` holds models--USER--REPO/snapshots/REVISION/FILE, `llama` holds USER_REPO_FILE.
  ModelCaches(std::filesystem::path hub, std::filesystem::path llama)
      : hub_(std::move(hub)), llama_(std::move(llama)) {}

  /// $HF_HUB_CACHE, $HF_HOME/hub or ~/.cache/huggingface/hub; $LLAMA_CACHE or ~/.cache/llama.cpp;
  /// $XDG_CACHE_HOME for ~/.cache.
  static ModelCaches of_the_environment();

  /// Every GGUF file of a model, by repository and name. Other files and projectors of pictures are left out.
  std::vector<CachedModel> list() const;

  /// USER/REPO[:QUANT]: of the repository's files that whose name has QUANT as a word, in any case; without
  /// it Q4_K_M, or else the first. With a `file` that one. Error: it is in neither cache; says where it can
  /// be had, and what puts it there.
  Result<std::filesystem::path> find(std::string_view model, std::string_view file = {}) const;
  /// What llama.cpp has from that address, or Hugging Face's tools where it is one of theirs.
  Result<std::filesystem::path> find_url(std::string_view url) const;

 private:
  void list_hub(std::vector<CachedModel>& models) const;
  void list_llama(std::vector<CachedModel>& models) const;
  std::string looked_in() const;

  std::filesystem::path hub_, llama_;
};

/// The part of a file's name that says how it is quantised, "Q4_K_M"; empty where none does.
std::string quantisation_of(std::string_view file);

}  // namespace spectr
