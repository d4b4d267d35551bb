// The calls of the operating system: files and their locks, processes, local time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "spectr/base/os/affinity.h"
#include "spectr/base/os/files.h"
#include "spectr/base/os/local_time.h"
#include "spectr/base/os/pages.h"
#include "spectr/base/os/process.h"
#include "spectr/base/temporary_name.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;
using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// A path below the folder of temporary files, which is removed at the end.
class Os : public testing::Test {
 protected:
  ~Os() override {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  std::string contents() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path path_ = temporary_name((fs::temp_directory_path() / "os").string());
};

TEST_F(Os, TextIsAppendedToFilesOrReplacesThem) {
  EXPECT_FALSE(write_file(path_, "one\n", {}));
  EXPECT_FALSE(write_file(path_, "two\n", {.syncs = true}));
  EXPECT_EQ(contents(), "one\ntwo\n");
  EXPECT_FALSE(write_file(path_, "three\n", {.replaces = true}));
  EXPECT_EQ(contents(), "three\n");
}

TEST_F(Os, NewFilesCanBeTheOwnersOnly) {
  EXPECT_FALSE(write_file(path_, "", {.owner_only = true}));
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Os, FailuresOfWritingHaveReasons) {
  EXPECT_EQ(write_file(path_ / "x", "text", {}), std::errc::no_such_file_or_directory);
  EXPECT_EQ(write_file(fs::temp_directory_path(), "text", {}), std::errc::is_a_directory);
  EXPECT_EQ(write_file("/dev/full", "text", {}), std::errc::no_space_on_device);
  EXPECT_EQ(check_writable(path_), std::errc::no_such_file_or_directory);
  EXPECT_FALSE(check_writable(fs::temp_directory_path()));
}

TEST_F(Os, LocksExcludeEachOtherUntilTheyAreReleased) {
  EXPECT_FALSE(write_file(path_, "", {}));
  {
    FileLock first(path_), second(path_);
    EXPECT_TRUE(first.try_lock());
    EXPECT_FALSE(second.try_lock());
  }
  EXPECT_TRUE(FileLock(path_).try_lock());
}

TEST_F(Os, MissingFilesHaveNoLock) {
  FileLock first(path_), second(path_);
  first.lock();
  second.lock();
  EXPECT_TRUE(second.try_lock());
}

TEST_F(Os, LocksOfReplacedFilesAreThoseOfTheNewFiles) {
  EXPECT_FALSE(write_file(path_, "old", {}));
  const fs::path aside = path_.string() + "-new";
  auto holder = std::make_unique<FileLock>(path_);
  holder->lock();
  FileLock waiting(path_);  // of the old file
  EXPECT_FALSE(write_file(aside, "new", {}));
  fs::rename(aside, path_);
  holder.reset();
  waiting.lock();
  EXPECT_FALSE(FileLock(path_).try_lock()) << "the new file is not locked";
}

TEST_F(Os, LocksAreWaitedFor) {
  EXPECT_FALSE(write_file(path_, "", {}));
  auto holder = std::make_unique<FileLock>(path_);
  holder->lock();
  std::atomic<bool> is_released = false;
  std::promise<void> begun;
  auto waiter = std::async(std::launch::async, [&] {
    FileLock lock(path_);
    begun.set_value();
    lock.lock();
    return is_released.load();
  });
  begun.get_future().wait();
  EXPECT_EQ(waiter.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  is_released = true;
  holder.reset();
  EXPECT_TRUE(waiter.get());
}

TEST_F(Os, ProgramsRunWithFilesAndGiveTheirStatus) {
  const File input(std::tmpfile(), std::fclose), output(std::tmpfile(), std::fclose);
  std::fputs("some text", input.get());
  EXPECT_EQ(run_process({"sh", "-c", "cat; exit 7"}, {.input = input.get(), .output = output.get()}), 7);
  char text[16] = {};
  EXPECT_STREQ(std::fgets(text, sizeof text, output.get()), "some text");
  EXPECT_EQ(run_process({"sh", "-c", "kill -9 $$"}, {}), 128 + 9);
  const auto missing = run_process({path_.string()}, {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error(), std::errc::no_such_file_or_directory);
}

TEST_F(Os, ProcessesAreReplacedOrTheReasonIsGiven) {
  EXPECT_EQ(replace_process({path_.string()}), std::errc::no_such_file_or_directory);
  EXPECT_EXIT((void)replace_process({"sh", "-c", "exit 5"}), testing::ExitedWithCode(5), "");
}

TEST_F(Os, TheProgramAndTheProcessAreKnown) {
  EXPECT_EQ(process_id(), getpid());
  const auto program = program_path();
  ASSERT_TRUE(program);
  EXPECT_TRUE(fs::is_regular_file(*program));
  EXPECT_THAT(program->filename().string(), testing::HasSubstr("test"));
}

TEST_F(Os, LocalTimesAreThoseOfTheTimeZone) {
  for (const std::time_t time : {std::time_t{0}, std::time_t{951'782'400}, std::time_t{1'735'689'599}}) {
    std::tm local = local_time(time);
    EXPECT_EQ(std::mktime(&local), time);
  }
}

TEST_F(Os, ThreadsStayOnTheProcessorsThatTheyAreAllowed) {
  const std::vector<int> before = allowed_processors();
  ASSERT_THAT(before, testing::Not(testing::IsEmpty()));
  const int last[] = {before.back()};
  allow_processors(last);
  EXPECT_THAT(allowed_processors(), testing::ElementsAre(before.back()));
  EXPECT_EQ(current_processor(), before.back());
  allow_processors({});
  EXPECT_THAT(allowed_processors(), testing::ElementsAre(before.back())) << "an empty list has no effect";
  allow_processors(before);
  EXPECT_EQ(allowed_processors(), before);
}

TEST_F(Os, PagesAreZeroed) {
  constexpr std::size_t size = std::size_t{3} << 20;
  const ZeroedPages pages(size);
  for (std::size_t i = 0; i < size; i += 4096) ASSERT_EQ(pages.data()[i], std::byte{0});
  pages.data()[size - 1] = std::byte{1};
}

}  // namespace
}  // namespace spectr
