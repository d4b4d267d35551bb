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
#include <lzma.h>

#include <cstddef>
#include <cstdint>
#include <limits>

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

/// Decompresses an xz file of one stream, whose index holds the decompressed size.
std::string decompressed(const std::byte* begin, const std::byte* end) {
  const auto* const file = reinterpret_cast<const std::uint8_t*>(begin);
  const auto bytes = static_cast<std::size_t>(end - begin);
  const std::size_t footer_at = bytes - LZMA_STREAM_HEADER_SIZE;
  lzma_stream_flags footer;
  SPECTR_CHECK(lzma_stream_footer_decode(&footer, file + footer_at) == LZMA_OK);
  std::uint64_t max_memory = std::numeric_limits<std::uint64_t>::max();
  std::size_t index_at = footer_at - static_cast<std::size_t>(footer.backward_size);
  lzma_index* index = nullptr;
  SPECTR_CHECK(lzma_index_buffer_decode(&index, &max_memory, nullptr, file, &index_at, footer_at) == LZMA_OK);
  std::string text(static_cast<std::size_t>(lzma_index_uncompressed_size(index)), '\0');
  lzma_index_end(index, nullptr);
  std::size_t read = 0, written = 0;
  SPECTR_CHECK(lzma_stream_buffer_decode(&max_memory, 0, nullptr, file, &read, bytes,
                                         reinterpret_cast<std::uint8_t*>(text.data()), &written,
                                         text.size()) == LZMA_OK);
  return text;
}

}  // namespace

bool has_kernel_images() {
  return true;
}

std::string kernel_image(std::string_view name) {
#define SPECTR_IMAGE(image, file) \
  if (name == #image) return decompressed(spectr_image_##image, spectr_end_of_##image);
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
