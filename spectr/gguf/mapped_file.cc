#include "spectr/gguf/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "spectr/base/numeric.h"

namespace spectr {
namespace {

std::string last_error() {
  return std::system_category().message(errno);
}

class Descriptor {
 public:
  // Without O_NONBLOCK a pipe would wait here for its writer instead of being refused below.
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

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
  const std::string& name = path.native();
  const Descriptor file(path.c_str());
  if (file.value() < 0) return error("{}: cannot be opened: {}", name, last_error());

  struct stat status = {};
  if (::fstat(file.value(), &status) != 0) return error("{}: cannot be examined: {}", name, last_error());
  if (S_ISDIR(status.st_mode)) return error("{}: is a directory, not a file", name);
  if (!S_ISREG(status.st_mode)) return error("{}: is not a regular file", name);
  if (status.st_size == 0) return error("{}: is empty", name);

  const auto size = static_cast<std::size_t>(status.st_size);
  void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value(), 0);
  if (address == MAP_FAILED) return error("{}: cannot be mapped into memory: {}", name, last_error());
  return std::shared_ptr<const MappedFile>(new MappedFile({static_cast<const std::byte*>(address), size}));
}

void MappedFile::forget(std::span<const std::byte> part) const {
  // Whole pages only: the first and the last may hold something else.
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto from = static_cast<std::size_t>(part.data() - bytes_.data());
  const std::size_t begin = round_up(from, page), end = (from + part.size()) / page * page;
  if (begin < end) ::madvise(const_cast<std::byte*>(bytes_.data()) + begin, end - begin, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace spectr
