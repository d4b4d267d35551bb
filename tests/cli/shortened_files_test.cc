#include "apps/cli/shortened_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "spectr/gguf/mapped_file.h"

namespace spectr::cli {
namespace {

class ShortenedFiles : public testing::Test {
 protected:
  ShortenedFiles() { std::ofstream(path) << std::string(size, 'x'); }
  ~ShortenedFiles() override { std::filesystem::remove(path); }

  static constexpr std::size_t size = 1 << 20;
  const std::string path = testing::TempDir() + "spectr-shortened-" + std::to_string(::getpid());
};

TEST_F(ShortenedFiles, EndTheProgramWithALineThatNamesThem) {
  const auto read_what_is_gone = [this] {
    tell_shortened_files();
    const auto file = MappedFile::open(path).value();
    std::filesystem::resize_file(path, 1);
    const volatile std::byte* last = &file->bytes().back();
    [[maybe_unused]] const std::byte gone = *last;
  };
  EXPECT_EXIT(read_what_is_gone(), testing::ExitedWithCode(2),
              "spectr: error: .*spectr-shortened.*: has become shorter while it was read");
}

TEST_F(ShortenedFiles, AreNotBlamedForWhatIsNotTheirs) {
  const auto raise_it = [] {
    tell_shortened_files();
    std::raise(SIGBUS);
    std::raise(SIGBUS);  // the first signal has removed the handler
  };
  EXPECT_EXIT(raise_it(), testing::KilledBySignal(SIGBUS), "");
}

TEST_F(ShortenedFiles, AreKnownByTheirAddressesForAsLongAsTheyAreMapped) {
  auto file = MappedFile::open(path).value();
  const std::byte* first = file->bytes().data();
  EXPECT_EQ(mapped_file_at(first), path);
  EXPECT_EQ(mapped_file_at(first + size - 1), path);
  EXPECT_EQ(mapped_file_at(first + size), nullptr);
  file.reset();
  EXPECT_EQ(mapped_file_at(first), nullptr);
}

}  // namespace
}  // namespace spectr::cli
