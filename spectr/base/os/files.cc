#include "spectr/base/os/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace spectr {
namespace {

std::error_code last_failure() {
  return {errno, std::generic_category()};
}

int open_to_lock(const std::filesystem::path& path) {
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
}

}  // namespace

std::error_code check_writable(const std::filesystem::path& path) {
  return ::access(path.c_str(), W_OK) == 0 ? std::error_code() : last_failure();
}

std::error_code write_file(const std::filesystem::path& path, std::string_view text, const FileWriting& how) {
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (how.replaces ? O_TRUNC : O_APPEND);
  const int file = ::open(path.c_str(), flags, how.owner_only ? 0600 : 0644);
  if (file < 0) return last_failure();
  std::error_code failed;
  while (!failed && !text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      failed = last_failure();
    }
  }
  if (!failed && how.syncs && ::fsync(file) != 0) failed = last_failure();
  if (::close(file) != 0 && !failed) failed = last_failure();
  return failed;
}

FileLock::FileLock(const std::filesystem::path& path) : path_(path), file_(open_to_lock(path)) {}

FileLock::~FileLock() {
  close();
}

void FileLock::close() {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

bool FileLock::try_lock() {
  return file_ < 0 || ::flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

void FileLock::lock() {
  while (file_ >= 0) {
    while (::flock(file_, LOCK_EX) != 0 && errno == EINTR) {
    }
    struct stat locked{}, there{};
    const bool replaced = ::fstat(file_, &locked) == 0 && ::stat(path_.c_str(), &there) == 0 &&
                          (locked.st_dev != there.st_dev || locked.st_ino != there.st_ino);
    if (!replaced) return;
    close();
    file_ = open_to_lock(path_);
  }
}

}  // namespace spectr
