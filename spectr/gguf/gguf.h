#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "spectr/base/hash.h"
#include "spectr/base/result.h"

namespace spectr {

class MappedFile;

/// Types of metadata values, with their numbers in files.
enum class GgufType : std::uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12,
};

/// Returns "u32", "string", …; nullopt if no type has this number.
std::optional<std::string_view> name_of(GgufType type);

/// An array of metadata as bytes of the file: checked when the file is read, decoded on access.
struct GgufArray {
  GgufType type;
  std::uint64_t count;
  std::span<const std::byte> bytes;
};

/// A metadata value. All integers are widened; strings are views of the file.
using GgufValue = std::variant<std::uint64_t, std::int64_t, double, bool, std::string_view, GgufArray>;

/// A tensor of the file: name, shape (fastest dimension first, as stored) and its bytes.
struct GgufTensor {
  std::string_view name;
  std::uint32_t type;                  ///< number in the file (stored_format.h)
  std::array<std::uint64_t, 4> shape;  ///< unused dimensions are 1
  std::span<const std::byte> bytes;

  std::uint64_t cols() const { return shape[0]; }
  std::uint64_t rows() const { return shape[1] * shape[2] * shape[3]; }
};

/// A GGUF file, version 2 or 3, mapped into memory. All counts, lengths, types, dimensions, offsets and
/// alignments in the file are checked against its size, without overflow, before they are used or anything is
/// allocated for them. Errors name the file, the field and the value.
///
/// Tensors must be contiguous and in the order of their descriptions, each at the next multiple of the
/// alignment, which is how every writer lays them out. This ensures that tensors do not overlap or exceed the
/// file, and detects offsets that contradict the alignment.
///
/// A model may be split into several such files, its parts. Opening any part opens all of them as one file,
/// with the name and the metadata of the first part and the tensors of all parts.
class Gguf {
 public:
  /// Opens a file. Fails, too, if a part is missing, is not at its place, or belongs to another model.
  static Result<Gguf> open(const std::filesystem::path& path);
  /// Parses bytes in memory, which must outlive the object. `name` replaces the path in errors.
  static Result<Gguf> parse(std::span<const std::byte> bytes, std::string name);

  const std::string& name() const { return name_; }
  std::uint32_t version() const { return version_; }
  /// Number of files that it consists of.
  std::size_t parts() const { return std::max<std::size_t>(files_.size(), 1); }
  std::span<const GgufTensor> tensors() const { return tensors_; }
  const GgufTensor* tensor(std::string_view name) const;
  /// Number of elements in all tensors.
  std::uint64_t parameters() const;
  /// Total bytes of all tensors.
  std::uint64_t tensor_bytes() const;

  /// Releases the memory of bytes that are no longer needed; they stay readable. Requires: part of this file.
  void forget(std::span<const std::byte> bytes) const;

  /// Keys, in file order.
  std::span<const std::string_view> keys() const { return keys_; }
  /// Returns null if the key is absent.
  const GgufValue* find(std::string_view key) const;

  /// Returns an error that a key of the file is of another type than `wanted`.
  std::unexpected<Error> wrong_type(std::string_view key, std::string_view wanted) const;

  // Typed access. An absent key is an error ("FILE: KEY is missing") or returns the second argument, if
  // given. A key of another type is always an error that names the key and both types.
  Result<std::uint64_t> integer(std::string_view key) const;  ///< any non-negative integer
  Result<std::uint64_t> integer(std::string_view key, std::uint64_t fallback) const;
  Result<double> real(std::string_view key) const;
  Result<double> real(std::string_view key, double fallback) const;
  Result<bool> boolean(std::string_view key, bool fallback) const;
  Result<std::string_view> string(std::string_view key) const;
  Result<std::string_view> string(std::string_view key, std::string_view fallback) const;
  // Arrays, empty if the key is absent.
  Result<std::vector<std::string_view>> strings(std::string_view key) const;
  Result<std::vector<float>> reals(std::string_view key) const;            ///< of type f32
  Result<std::vector<std::int64_t>> integers(std::string_view key) const;  ///< of any integer type

 private:
  friend class GgufReader;
  Gguf() = default;
  static Result<Gguf> open_file(const std::filesystem::path& path);
  /// Opens all parts of the model that this part belongs to.
  static Result<Gguf> open_parts(Gguf part);
  /// Appends the tensors of the next part.
  Result<void> join(Gguf part);

  std::string name_;
  std::vector<std::shared_ptr<const MappedFile>> files_;  // empty if parsed from memory
  std::uint32_t version_ = 0;
  std::vector<std::string_view> keys_;
  std::unordered_map<std::string_view, GgufValue, KeyedHash> values_;
  std::vector<GgufTensor> tensors_;
  std::unordered_map<std::string_view, std::size_t, KeyedHash> tensor_index_;
};

}  // namespace spectr
