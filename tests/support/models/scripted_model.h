#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace spectr::test {

/// The file of a model with known answers: each token determines the next one. A prompt that ends with a
/// character is followed by the script of that character, piece by piece, each as one token, and the end of
/// text. Pieces must differ. The vocabulary also has all bytes.
class ScriptedModel {
 public:
  using Scripts = std::map<char, std::vector<std::string>>;
  /// Further token ids in the file, by key. The token of a byte has the byte's value as its id.
  using Ids = std::map<std::string, std::uint32_t>;

  explicit ScriptedModel(const Scripts& scripts, const Ids& ids = {});
  ~ScriptedModel();
  ScriptedModel(const ScriptedModel&) = delete;
  ScriptedModel& operator=(const ScriptedModel&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace spectr::test
