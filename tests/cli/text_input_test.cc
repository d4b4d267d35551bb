#include "apps/cli/flags/text_input.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace spectr::cli {
namespace {

class TextFile {
 public:
  explicit TextFile(const std::string& contents) { std::ofstream(path) << contents; }
  ~TextFile() { std::filesystem::remove(path); }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  const std::string path = testing::TempDir() + "spectr-text-" + std::to_string(::getpid());
};

TEST(TextInput, LeavesAByteOrderMarkOut) {
  const TextFile file("\xEF\xBB\xBF{{ messages }}\xEF\xBB\xBF\r\n");
  EXPECT_EQ(read_file(file.path), "{{ messages }}\xEF\xBB\xBF\r\n") << "at the beginning alone";
  TextInput input;
  input.file = file.path;
  EXPECT_EQ(input.read_prompt(), "{{ messages }}\xEF\xBB\xBF");
}

TEST(TextInput, KeepsAllThatIsNoWholeMark) {
  for (const std::string contents : {"", "\xEF\xBB", "a\xEF\xBB\xBF"}) {
    const TextFile file(contents);
    EXPECT_EQ(read_file(file.path), contents);
  }
  TextInput input;
  input.text =
      "\xEF\xBB\xBF"
      "a";
  EXPECT_EQ(input.read(),
            "\xEF\xBB\xBF"
            "a")
      << "what was typed";
}

}  // namespace
}  // namespace spectr::cli
