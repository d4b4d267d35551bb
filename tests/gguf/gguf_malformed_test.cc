// Each test is a file with one false statement. If such a file has broken another
// reader, the comment cites the report.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "fuzz/walk_gguf.h"
#include "spectr/gguf/gguf.h"
#include "tests/support/gguf_writer.h"

namespace spectr {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::uint64_t all_ones = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t u32_type = 4, string_type = 8, array_type = 9, u64_type = 10;

void expect_error(const std::vector<std::byte>& bytes, const std::string& reason) {
  const auto file = Gguf::parse(bytes, "bad.gguf");
  ASSERT_FALSE(file) << "was accepted; expected: " << reason;
  EXPECT_THAT(file.error().message, StartsWith("bad.gguf: "));
  EXPECT_THAT(file.error().message, HasSubstr(reason));
}

void expect_error(const GgufWriter& writer, const std::string& reason) {
  expect_error(writer.bytes(), reason);
}

/// Returns a file with good entries before and after the malformed one.
GgufWriter with_entry(const Bytes& bytes) {
  return GgufWriter().set("before", 1U).raw_entry(bytes).set("after", 2U);
}

GgufWriter with_tensor(const WrittenTensor& tensor) {
  return GgufWriter().set("before", 1U).tensor({.name = "first", .shape = {8}}).tensor(tensor);
}

// ---- The header ----

TEST(MalformedHeader, AFewBytesAreNotAFile) {
  for (const std::string_view start : {"G", "GG", "GGU"}) expect_error(Bytes().text(start).data(), "magic");
  expect_error(Bytes().text("GGUF").data(), "version at byte 4 needs 4 bytes");  // CVE-2024-39720
  expect_error(Bytes().text("GGUF").u32(3).data(), "tensor count at byte 8");
  expect_error(Bytes().text("GGUF").u32(3).u64(0).data(), "metadata count at byte 16");
}

TEST(MalformedHeader, TheMagicIsWrong) {
  GgufWriter writer = tiny_llama();
  writer.magic = "GGML";
  expect_error(writer, "magic is \"GGML\"");
  writer.magic =
      "\x7f"
      "ELF";
  expect_error(writer, "magic is \"\\x7fELF\"");
}

TEST(MalformedHeader, TheVersionIsNotKnown) {
  for (const std::uint32_t version : {0U, 1U, 4U, 100U, ~0U}) {
    GgufWriter writer = tiny_llama();
    writer.version = version;
    expect_error(writer, fmt::format("version is {}, but only 2 and 3 can be read", version));
  }
}

TEST(MalformedHeader, TheFileIsBigEndian) {
  GgufWriter writer = tiny_llama();
  writer.version = 3U << 24;
  expect_error(writer, "big-endian");
}

// CVE-2024-25664, CVE-2024-23605: count × size of an entry wraps around.
TEST(MalformedHeader, TheMetadataCountIsBeyondTheFile) {
  for (const std::uint64_t count : {all_ones, all_ones / 16 + 1, all_ones / 48 + 2, std::uint64_t{1000}}) {
    GgufWriter writer = tiny_llama();
    writer.claimed_entries = count;
    expect_error(writer, fmt::format("metadata count is {}", count));
  }
}

// CVE-2024-25666, CVE-2024-21836: likewise for tensors. CVE-2026-27940: count × overhead + data wraps around.
TEST(MalformedHeader, TheTensorCountIsBeyondTheFile) {
  for (const std::uint64_t count : {all_ones, all_ones / 64 + 1, all_ones / 368, std::uint64_t{1000}}) {
    GgufWriter writer = tiny_llama();
    writer.claimed_tensors = count;
    expect_error(writer, fmt::format("tensor count is {}", count));
  }
}

TEST(MalformedHeader, OneMoreEntryIsClaimedThanThereIs) {
  GgufWriter writer = tiny_llama();
  writer.claimed_entries = 13;  // the first tensor's description is parsed as an entry
  EXPECT_FALSE(Gguf::parse(writer.bytes(), "bad.gguf"));
}

// ---- Metadata ----

TEST(MalformedMetadata, AKeyIsEmpty) {  // ggml-org/llama.cpp#24884
  expect_error(with_entry(Bytes().string("").u32(u32_type).u32(1)), "metadata key 1 is empty");
}

// CVE-2024-25665, CVE-2024-23496: length + 1 wraps around to 0.
TEST(MalformedMetadata, AKeysLengthIsBeyondTheFile) {
  for (const std::uint64_t length : {all_ones, all_ones - 24, std::uint64_t{1} << 31, std::uint64_t{100}}) {
    expect_error(with_entry(Bytes().u64(length).text("key").u32(u32_type).u32(1)),
                 fmt::format("metadata key at byte 46 claims a length of {} bytes", length));
  }
}

TEST(MalformedMetadata, AKeyIsTooLong) {
  expect_error(with_entry(Bytes().string(std::string(65536, 'k')).u32(u32_type).u32(1)),
               "65535 is the limit");
}

TEST(MalformedMetadata, AKeyOccursTwice) {
  const Bytes entry = Bytes().string("again").u32(u32_type).u32(1);
  expect_error(GgufWriter().raw_entry(entry).raw_entry(entry), "metadata key \"again\" occurs twice");
}

TEST(MalformedMetadata, AKeyCannotBreakTheLineOfTheMessage) {
  const auto bytes = with_entry(Bytes().string("a\nb\x1b[2J").u32(99).u32(1)).bytes();
  const auto file = Gguf::parse(bytes, "bad.gguf");
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr(R"("a\nb\x1b[2J")"));
}

TEST(MalformedMetadata, ATypeIsNotKnown) {
  for (const std::uint32_t type : {13U, 255U, ~0U}) {
    expect_error(with_entry(Bytes().string("key").u32(type).u32(1)),
                 fmt::format("metadata \"key\": type is {}, but the types are numbered 0 to 12", type));
  }
}

TEST(MalformedMetadata, AStringsLengthIsBeyondTheFile) {
  for (const std::uint64_t length : {all_ones, all_ones - 1, std::uint64_t{1} << 62, std::uint64_t{200}}) {
    expect_error(with_entry(Bytes().string("key").u32(string_type).u64(length).text("value")),
                 fmt::format("metadata \"key\": string at byte 61 claims a length of {} bytes", length));
  }
}

TEST(MalformedMetadata, ABooleanIsNeitherTrueNorFalse) {
  expect_error(with_entry(Bytes().string("key").u32(7).number(std::uint8_t{2})),
               "metadata \"key\": a boolean is 2");
  expect_error(
      with_entry(Bytes().string("key").u32(array_type).u32(7).u64(2).number(std::uint8_t{1}).number('\xff')),
      "metadata \"key\": a boolean is 255");
}

// CVE-2024-25667, CVE-2024-25668, CVE-2024-21825: count × size of an element wraps around.
TEST(MalformedMetadata, AnArraysLengthIsBeyondTheFile) {
  for (const std::uint64_t count : {all_ones, all_ones / 8 + 2, std::uint64_t{1} << 61, std::uint64_t{5}}) {
    expect_error(
        GgufWriter().raw_entry(Bytes().string("key").u32(array_type).u32(u64_type).u64(count).zeros(32)),
        fmt::format("metadata \"key\": array's length is {} elements of type u64", count));
  }
}

TEST(MalformedMetadata, AnArrayOfStringsIsLongerThanTheFile) {
  for (const std::uint64_t count :
       {all_ones, all_ones / 16 + 1, std::uint64_t{1} << 32, std::uint64_t{100}}) {
    expect_error(with_entry(Bytes().string("key").u32(array_type).u32(string_type).u64(count).string("one")),
                 fmt::format("metadata \"key\": array's length is {} elements of type string", count));
  }
}

TEST(MalformedMetadata, AStringOfAnArrayIsBeyondTheFile) {
  expect_error(
      with_entry(Bytes().string("key").u32(array_type).u32(string_type).u64(2).string("one").u64(all_ones)),
      "metadata \"key\": string");
}

TEST(MalformedMetadata, AnArraysElementTypeIsNotKnown) {
  expect_error(with_entry(Bytes().string("key").u32(array_type).u32(13).u64(1).zeros(8)),
               "metadata \"key\": array's element type is 13");
}

TEST(MalformedMetadata, ArraysAreNested) {
  Bytes nested;
  nested.string("key").u32(array_type);
  for (int depth = 0; depth < 10'000; ++depth) nested.u32(array_type).u64(1);
  expect_error(with_entry(nested),
               "metadata \"key\": array's element type is array, but arrays must not be nested");
}

TEST(MalformedMetadata, TheAlignmentHasAnotherType) {  // ggml-org/llama.cpp#26318
  constexpr std::string_view key = "general.alignment";
  expect_error(GgufWriter().set(key, std::int32_t{32}), "metadata \"general.alignment\": has type i32");
  expect_error(GgufWriter().set(key, std::int32_t{-32}), "has type i32, but must be u32");
  expect_error(GgufWriter().set(key, std::uint64_t{32}), "has type u64, but must be u32");
  expect_error(GgufWriter().set(key, all_ones - 31), "has type u64, but must be u32");
  expect_error(GgufWriter().set(key, "32"), "has type string, but must be u32");
}

// CVE-2025-0317: 0 divides by zero.
TEST(MalformedMetadata, TheAlignmentIsNoUsablePowerOfTwo) {
  for (const std::uint32_t alignment : {0U, 1U, 4U, 7U, 24U, 33U, 1U << 21, 1U << 31, ~0U}) {
    expect_error(GgufWriter().set("general.alignment", alignment),
                 fmt::format("metadata \"general.alignment\": is {}, but must be a power of two", alignment));
  }
}

// ---- Tensors ----

TEST(MalformedTensor, ANameIsEmpty) {
  expect_error(with_tensor({.name = "", .shape = {8}}), "the name of tensor 1 is empty");
}

TEST(MalformedTensor, ANameIsTooLong) {
  EXPECT_TRUE(Gguf::parse(with_tensor({.name = std::string(63, 'n'), .shape = {8}}).bytes(), "good.gguf"));
  expect_error(with_tensor({.name = std::string(64, 'n'), .shape = {8}}),
               "its name has 64 bytes, but 63 is the limit");
}

TEST(MalformedTensor, ANamesLengthIsBeyondTheFile) {
  for (const std::uint64_t length : {all_ones, std::uint64_t{1} << 40}) {
    expect_error(GgufWriter().raw_tensor(Bytes().u64(length).text("name").zeros(64)),
                 fmt::format("tensor name at byte 24 claims a length of {} bytes", length));
  }
}

TEST(MalformedTensor, ANameOccursTwice) {
  expect_error(with_tensor({.name = "first", .shape = {8}}), "tensor \"first\" occurs twice");
}

TEST(MalformedTensor, TheNumberOfDimensionsIsNot1To4) {  // CVE-2024-21802
  for (const std::uint32_t dimensions : {0U, 5U, 1000U, ~0U}) {
    expect_error(with_tensor({.name = "bad", .shape = {8, 1, 1, 1, 1}, .dimensions = dimensions}),
                 fmt::format("tensor \"bad\": has {} dimensions, but must have 1 to 4", dimensions));
  }
}

TEST(MalformedTensor, ADimensionIsZero) {  // ggml-org/llama.cpp#24263
  expect_error(with_tensor({.name = "bad", .shape = {0}}), "tensor \"bad\": dimension 0 is 0");
  expect_error(with_tensor({.name = "bad", .shape = {8, 4, 0}}), "tensor \"bad\": dimension 2 is 0");
}

// CVE-2026-33298 (ggml-org/llama.cpp#18674), CVE-2025-0315.
TEST(MalformedTensor, TheNumberOfElementsOverflows) {
  constexpr std::uint64_t large = (std::uint64_t{1} << 42) + 1;
  expect_error(with_tensor({.name = "bad", .shape = {large, large}, .data_size = 0}),
               fmt::format("tensor \"bad\": dimension 1 is {}: the number of elements exceeds 2^64", large));
  expect_error(with_tensor({.name = "bad", .shape = {8, all_ones}, .data_size = 0}), "elements exceeds 2^64");
  expect_error(
      with_tensor({.name = "bad", .shape = {1ULL << 16, 1ULL << 16, 1ULL << 16, 1ULL << 16}, .data_size = 0}),
      "dimension 3 is 65536: the number of elements exceeds 2^64");
}

TEST(MalformedTensor, TheNumberOfBytesOverflows) {
  expect_error(with_tensor({.name = "bad", .shape = {std::uint64_t{1} << 62}, .data_size = 0}),
               "tensor \"bad\": 4611686018427387904 elements of F32 exceed 2^64 bytes");
  expect_error(with_tensor({.name = "bad", .shape = {(std::uint64_t{1} << 62) + 1, 3}, .data_size = 0}),
               "exceed 2^64 bytes");
}

TEST(MalformedTensor, ADimensionIsBeyondTheFile) {
  for (const std::uint64_t dimension :
       {std::uint64_t{100}, (std::uint64_t{1} << 42) + 1, std::uint64_t{1} << 61}) {
    expect_error(with_tensor({.name = "bad", .shape = {dimension}, .data_size = 32}),
                 "reach beyond the end of the file");
  }
}

// CVE-2025-53630: the sum of the padded sizes wraps around to a small one.
TEST(MalformedTensor, TheSumOfTheSizesOverflows) {
  constexpr std::uint64_t half = std::uint64_t{1} << 61;  // elements: 2^63 bytes
  GgufWriter writer;
  writer.tensor({.name = "a", .shape = {half}, .offset = 0, .data_size = 32});
  writer.tensor({.name = "b", .shape = {half}, .offset = std::uint64_t{1} << 63, .data_size = 32});
  expect_error(writer,
               "tensor \"a\": 9223372036854775808 bytes at offset 0 reach beyond the end of the file");
}

TEST(MalformedTensor, ATypeIsUnknown) {
  for (const std::uint32_t type : {9U, 142U, 255U, ~0U}) {  // 9: activations only
    expect_error(with_tensor({.name = "bad", .type = type, .shape = {256}, .data_size = 1024}),
                 fmt::format("tensor \"bad\": type is {}, which is not a known format", type));
  }
}

TEST(MalformedTensor, ATypeIsOfOthersOrOfThePast) {
  const auto type_is = [](std::uint32_t type) {
    return with_tensor({.name = "bad", .type = type, .shape = {256}, .data_size = 1024});
  };
  expect_error(type_is(5), "tensor \"bad\": type is 5, Q4_3 of llama.cpp in 2023, which cannot be read");
  expect_error(type_is(31),
               "tensor \"bad\": type is 31, Q4_0_4_4 of llama.cpp in 2024, which cannot be read");
  expect_error(type_is(139), "tensor \"bad\": type is 139, IQ4_K of ik_llama.cpp, which cannot be read");
}

TEST(MalformedTensor, ARowIsNotAMultipleOfTheBlock) {
  expect_error(
      with_tensor({.name = "bad", .type = 8, .shape = {33, 2}, .data_size = 1024}),
      "tensor \"bad\": rows of 33 elements are not a multiple of the 32 elements in a block of Q8_0");
  expect_error(with_tensor({.name = "bad", .type = 14, .shape = {128, 2}, .data_size = 1024}),
               "rows of 128 elements are not a multiple of the 256 elements in a block of Q6_K");
}

// CVE-2026-7482: bytes after the end of the file are read.
TEST(MalformedTensor, AnOffsetIsBeyondTheFile) {
  for (const std::uint64_t offset : {all_ones, all_ones - 31, std::uint64_t{1} << 40, std::uint64_t{64}}) {
    expect_error(with_tensor({.name = "bad", .shape = {8}, .offset = offset}),
                 fmt::format("tensor \"bad\": offset is {}, but 32 is next (the alignment is 32)", offset));
  }
}

TEST(MalformedTensor, TensorsOverlap) {
  expect_error(with_tensor({.name = "bad", .shape = {8}, .offset = 0}), "tensor \"bad\": offset is 0");
}

TEST(MalformedTensor, AnOffsetIsNotAligned) {
  expect_error(with_tensor({.name = "bad", .shape = {8}, .offset = 33}), "tensor \"bad\": offset is 33");
}

TEST(MalformedTensor, TheOffsetsContradictTheAlignment) {
  GgufWriter writer;
  writer.set("general.alignment", 64U);  // the data is aligned to 32
  writer.tensor({.name = "a", .shape = {8}})
      .tensor({.name = "b", .shape = {8}})
      .tensor({.name = "c", .shape = {8}});
  expect_error(writer, "tensor \"b\": offset is 32, but 64 is next (the alignment is 64)");
}

TEST(MalformedTensor, TheDataAreCutShort) {
  expect_error(
      with_tensor({.name = "bad", .shape = {8}, .data_size = 31}),
      "tensor \"bad\": 32 bytes at offset 32 reach beyond the end of the file, which has 63 bytes of data");
  expect_error(with_tensor({.name = "bad", .shape = {8}, .data_size = 0}),
               "reach beyond the end of the file");
}

// ---- Everywhere ----

// CVE-2024-32878, CVE-2024-41130, CVE-2025-0312: reading stops early and partial results are used.
TEST(Malformed, AFileCutAnywhereIsAnError) {
  const auto whole = tiny_llama().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(Gguf::parse(cut, "cut.gguf")) << "at " << size << " of " << whole.size();
  }
}

// CVE-2026-52131: a file triggers an assertion. A file with one changed byte must either be
// an error or be readable as a whole.
TEST(Malformed, NoChangedByteBreaksTheReader) {
  auto bytes = tiny_llama().bytes();
  std::size_t refused = 0;
  for (std::byte& byte : bytes) {
    const std::byte good = byte;
    for (const unsigned change : {0x01U, 0x02U, 0x04U, 0x08U, 0x10U, 0x20U, 0x40U, 0x80U, 0xFFU}) {
      byte = good ^ static_cast<std::byte>(change);
      const auto file = Gguf::parse(bytes, "changed.gguf");
      if (file) {
        walk(*file);
      } else {
        ++refused;
      }
    }
    byte = good;
  }
  EXPECT_GT(refused, bytes.size());
}

}  // namespace
}  // namespace spectr
