// Arbitrary bytes must either be a file that can be traversed completely or yield an error.

#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz/walk_gguf.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it by this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = spectr::Gguf::parse(std::as_bytes(std::span(data, size)), "fuzz.gguf");
  if (file) {
    [[maybe_unused]] volatile std::size_t sum = spectr::walk(*file);
  }
  return 0;
}
