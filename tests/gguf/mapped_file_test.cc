#include "spectr/gguf/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace spectr {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class MappedFileTest : public testing::Test {
 protected:
  MappedFileTest() {
    std::string name = testing::TempDir() + "mapped_file_XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~MappedFileTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& text) const {
    const auto path = folder_ / "file";
    std::ofstream(path) << text;
    return path;
  }
  static void expect_error(const std::filesystem::path& path, const std::string& reason) {
    const auto file = MappedFile::open(path);
    ASSERT_FALSE(file);
    EXPECT_THAT(file.error().message, StartsWith(path.native() + ": "));
    EXPECT_THAT(file.error().message, HasSubstr(reason));
  }

  std::filesystem::path folder_;
};

TEST_F(MappedFileTest, ShowsTheBytesOfTheFile) {
  const auto file = MappedFile::open(write("some bytes"));
  ASSERT_TRUE(file) << file.error().message;
  const auto bytes = (*file)->bytes();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "some bytes");
}

TEST_F(MappedFileTest, BytesThatWereForgottenAreReadAgain) {
  std::string text(100'000, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 23);
  const auto file = MappedFile::open(write(text)).value();
  for (const auto& [begin, size] :
       {std::pair{0uz, 100'000uz}, {1uz, 50'000uz}, {4096uz, 8192uz}, {5uz, 3uz}}) {
    file->forget(file->bytes().subspan(begin, size));
    const auto bytes = file->bytes();
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), text);
  }
}

TEST_F(MappedFileTest, RefusesAMissingFile) {
  expect_error(folder_ / "none", "No such file or directory");
}

TEST_F(MappedFileTest, RefusesADirectory) {
  expect_error(folder_, "is a directory");
}

TEST_F(MappedFileTest, RefusesAnEmptyFile) {
  expect_error(write(""), "is empty");
}

TEST_F(MappedFileTest, RefusesAPipeWithoutWaitingForItsWriter) {
  const auto path = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  expect_error(path, "is not a regular file");
}

TEST_F(MappedFileTest, RefusesAFileThatMustNotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const auto path = write("secret");
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  expect_error(path, "Permission denied");
}

}  // namespace
}  // namespace spectr
