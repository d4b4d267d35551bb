#include "spectr/backend/cuda/kernel_image.h"

#include <charconv>

namespace spectr::cuda {

int driver_version_for(std::string_view image) {
  constexpr std::string_view directive = ".version ";
  const std::size_t at = image.find(directive);
  if (at == std::string_view::npos) return 0;
  int major = 0, minor = 0;
  const char* const end = image.data() + image.size();
  const auto [dot, failed] = std::from_chars(image.data() + at + directive.size(), end, major);
  if (failed != std::errc() || dot == end || std::from_chars(dot + 1, end, minor).ec != std::errc()) return 0;
  // PTX 6.x came with CUDA 10.(x − 3); 7.x with 11.x; 8.x with 12.x up to 12.5, and CUDA 12.6 has PTX 8.5,
  // too; 9.x with 13.x.
  if (major == 6) minor -= 3;
  if (major == 8 && minor > 5) minor += 1;
  return 1000 * (major + 4) + 10 * minor;
}

}  // namespace spectr::cuda

#if defined(SPECTR_HAS_KERNELS)
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "spectr/base/check.h"

// Embeds each file unmodified.
#define SPECTR_IMAGE(name, file)                                                                      \
  asm(".pushsection .rodata\n.local spectr_image_" #name "\nspectr_image_" #name ":\n.incbin \"" file \
      "\"\n.local spectr_end_of_" #name "\nspectr_end_of_" #name ":\n.popsection\n");                 \
  extern "C" const std::byte spectr_image_##name[], spectr_end_of_##name[];
#include "spectr/backend/cuda/images.inc"
#undef SPECTR_IMAGE

namespace spectr::cuda {
namespace {

/// Decompresses a gzip file, whose last four bytes are the decompressed size.
std::string inflated(const std::byte* begin, const std::byte* end) {
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, end - sizeof bytes, sizeof bytes);
  std::string text(bytes, '\0');
  z_stream stream = {};
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(begin));  // NOLINT: it only reads
  stream.avail_in = static_cast<uInt>(end - begin);
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = bytes;
  constexpr int of_gzip = 16 + MAX_WBITS;
  SPECTR_CHECK(inflateInit2(&stream, of_gzip) == Z_OK);
  const int result = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  SPECTR_CHECK(result == Z_STREAM_END);
  return text;
}

}  // namespace

bool has_kernel_images() {
  return true;
}

std::string kernel_image(std::string_view name) {
#define SPECTR_IMAGE(image, file) \
  if (name == #image) return inflated(spectr_image_##image, spectr_end_of_##image);
#include "spectr/backend/cuda/images.inc"
#undef SPECTR_IMAGE
  return {};
}

}  // namespace spectr::cuda

#else

namespace spectr::cuda {

bool has_kernel_images() {
  return false;
}

std::string kernel_image(std::string_view) {
  return {};
}

}  // namespace spectr::cuda

#endif
