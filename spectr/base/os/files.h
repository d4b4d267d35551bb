#pragma once

#include <filesystem>
#include <string_view>
#include <system_error>

namespace spectr {

/// Returns an error unless this process may write to an existing file or folder.
std::error_code check_writable(const std::filesystem::path& path);

/// How write_file() writes.
struct FileWriting {
  bool replaces = false;    ///< deletes earlier contents instead of appending to them
  bool owner_only = false;  ///< permissions of a new file: only its owner can read it
  bool syncs = false;       ///< waits until the contents are on the disk
};

/// Writes to a file, which is created if it is missing. Text is appended with a single call to the system
/// unless that writes only a part, so that the lines of concurrent processes do not interleave.
std::error_code write_file(const std::filesystem::path& path, std::string_view text, const FileWriting& how);

/// An exclusive lock of a file or folder between processes, released at the end of the object. There is no
/// lock, and no waiting, if the file is missing or its file system has no locks, as some network file
/// systems.
class FileLock {
 public:
  explicit FileLock(const std::filesystem::path& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  /// Returns false if another process holds the lock.
  bool try_lock();
  /// Waits for the lock. If the file was replaced in the meantime, waits for the lock of the new file.
  void lock();

 private:
  void close();

  std::filesystem::path path_;
  int file_;  // negative: no lock
};

}  // namespace spectr
