#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace spectr::test {

/// A file with a given name, alone in a folder, which is deleted by the destructor.
class NamedFile {
 public:
  NamedFile(const char* name, const std::string& contents) {
    char folder[] = "/tmp/spectr-test-XXXXXX";
    path_ = std::filesystem::path(mkdtemp(folder)) / name;
    std::ofstream(path_, std::ios::binary) << contents;
  }
  ~NamedFile() { std::filesystem::remove_all(path_.parent_path()); }
  NamedFile(const NamedFile&) = delete;
  NamedFile& operator=(const NamedFile&) = delete;

  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline std::string contents_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace spectr::test
