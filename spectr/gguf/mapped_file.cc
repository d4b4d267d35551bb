#include "spectr/gguf/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "spectr/base/numeric.h"

namespace spectr {
namespace {

std::string last_error() {
  return std::system_category().message(errno);
}

class Descriptor {
 public:
  // Without O_NONBLOCK, opening a pipe would block until a writer opens it; it is refused below.
  explicit Descriptor(const char* path) : value_(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int value() const { return value_; }

 private:
  int value_;
};

/// Table entry of a mapped file, readable in a signal handler: it neither locks nor owns memory.
struct Entry {
  std::atomic<bool> taken = false;
  std::atomic<const std::byte*> begin = nullptr;  // null: the other fields are invalid
  std::atomic<std::size_t> size = 0;
  std::atomic<const char*> path = nullptr;
};
std::array<Entry, 1024> entries;

std::size_t enter(std::span<const std::byte> bytes, const char* path) {
  std::size_t i = 0;
  while (i < entries.size() && entries[i].taken.exchange(true)) ++i;
  if (i == entries.size()) return i;
  entries[i].size = bytes.size();
  entries[i].path = path;
  entries[i].begin = bytes.data();
  return i;
}

void leave(std::size_t i) {
  if (i == entries.size()) return;
  entries[i].begin = nullptr;
  entries[i].taken = false;
}

}  // namespace

MappedFile::MappedFile(std::string path, std::span<const std::byte> bytes)
    : path_(std::move(path)), bytes_(bytes), entry_(enter(bytes_, path_.c_str())) {}

const char* mapped_file_at(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (const Entry& entry : entries) {
    const auto begin = reinterpret_cast<std::uintptr_t>(entry.begin.load());
    if (begin != 0 && at >= begin && at - begin < entry.size) return entry.path;
  }
  return nullptr;
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
  const std::string& name = path.native();
  const Descriptor file(path.c_str());
  if (file.value() < 0) return error(ErrorCode::io, "{}: cannot be opened: {}", name, last_error());

  struct stat status = {};
  if (::fstat(file.value(), &status) != 0)
    return error(ErrorCode::io, "{}: cannot be examined: {}", name, last_error());
  if (S_ISDIR(status.st_mode)) return error(ErrorCode::io, "{}: is a directory, not a file", name);
  if (!S_ISREG(status.st_mode)) return error(ErrorCode::io, "{}: is not a regular file", name);
  if (status.st_size == 0) return error("{}: is empty", name);

  const auto size = static_cast<std::size_t>(status.st_size);
  void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value(), 0);
  if (address == MAP_FAILED)
    return error(ErrorCode::io, "{}: cannot be mapped into memory: {}", name, last_error());
  return std::shared_ptr<const MappedFile>(
      new MappedFile(name, {static_cast<const std::byte*>(address), size}));
}

void MappedFile::forget(std::span<const std::byte> part) const {
  // Release whole pages only: the first and the last may contain other data.
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto from = static_cast<std::size_t>(part.data() - bytes_.data());
  const std::size_t begin = round_up(from, page), end = (from + part.size()) / page * page;
  if (begin < end) ::madvise(const_cast<std::byte*>(bytes_.data()) + begin, end - begin, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  leave(entry_);
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace spectr
