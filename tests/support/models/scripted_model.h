#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace spectr::test {

/// The file of a model whose answers are known: what a token is followed by depends on that token alone.
/// After a prompt that ends with a character comes the script of that character, piece by piece, each a token
/// of its own, and the end of the text. Pieces must differ. Its vocabulary has the bytes besides.
class ScriptedModel {
 public:
  using Scripts = std::map<char, std::vector<std::string>>;
  /// Further ids that the file gives, by their keys. The token of a byte has its number.
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
