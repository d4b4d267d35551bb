#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "spectr/gguf/gguf.h"

namespace spectr {

/// A buffer of bytes: numbers and strings are appended in GGUF's encoding.
class Bytes {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  Bytes& number(T value) {
    const std::size_t at = data_.size();
    data_.resize(at + sizeof(T));
    std::memcpy(data_.data() + at, &value, sizeof(T));
    return *this;
  }
  Bytes& u32(std::uint32_t value) { return number(value); }
  Bytes& u64(std::uint64_t value) { return number(value); }
  Bytes& text(std::string_view characters);
  /// Appends length and characters.
  Bytes& string(std::string_view characters) { return u64(characters.size()).text(characters); }
  Bytes& zeros(std::size_t count);
  Bytes& append(const Bytes& other);
  /// Appends zeros up to the next multiple.
  Bytes& pad(std::size_t multiple);

  std::size_t size() const { return data_.size(); }
  const std::vector<std::byte>& data() const { return data_; }

 private:
  std::vector<std::byte> data_;
};

/// A tensor of a crafted file. Fields without a value get the correct one.
struct WrittenTensor {
  std::string name;
  std::uint32_t type = 0;
  std::vector<std::uint64_t> shape;
  std::optional<std::uint32_t> dimensions = {};  ///< claimed number of dimensions
  std::optional<std::uint64_t> offset = {};      ///< claimed offset
  std::optional<std::size_t> data_size = {};     ///< actual bytes
  std::vector<float> numbers = {};               ///< of an F32 tensor; empty: zeros
};

/// Writes a GGUF file, either well-formed or with any defect that a test needs.
class GgufWriter {
 public:
  std::string magic = "GGUF";
  std::uint32_t version = 3;
  std::optional<std::uint64_t> claimed_entries = {}, claimed_tensors = {};
  std::size_t alignment = 32;  ///< of the data; general.alignment must be set, too

  GgufWriter& set(std::string_view key, std::string_view value);
  GgufWriter& set(std::string_view key, const char* value) { return set(key, std::string_view(value)); }
  template <class T>
    requires std::is_arithmetic_v<T>
  GgufWriter& set(std::string_view key, T value) {
    return entry(key, type_of<T>(), Bytes().number(value));
  }
  template <class T>
  GgufWriter& set(std::string_view key, const std::vector<T>& values) {
    Bytes bytes;
    bytes.u32(static_cast<std::uint32_t>(type_of<T>())).u64(values.size());
    for (const T& value : values) {
      if constexpr (std::is_arithmetic_v<T>) {
        bytes.number(value);
      } else {
        bytes.string(value);
      }
    }
    return entry(key, GgufType::array, bytes);
  }
  /// Adds an entry with these bytes as its value; replaces an entry with the same key.
  GgufWriter& entry(std::string_view key, GgufType type, const Bytes& value);
  GgufWriter& remove(std::string_view key);
  /// Writes arbitrary bytes instead of an entry.
  GgufWriter& raw_entry(const Bytes& bytes);
  GgufWriter& tensor(WrittenTensor tensor);
  /// Writes arbitrary bytes instead of a tensor's description, without data.
  GgufWriter& raw_tensor(const Bytes& bytes);

  GgufWriter& without_tensors();

  std::vector<std::byte> bytes() const;

 private:
  template <class T>
  static constexpr GgufType type_of() {
    if constexpr (std::is_same_v<T, bool>) return GgufType::boolean;
    if constexpr (std::is_same_v<T, float>) return GgufType::f32;
    if constexpr (std::is_same_v<T, double>) return GgufType::f64;
    if constexpr (std::is_integral_v<T>) {
      constexpr bool with_sign = std::is_signed_v<T>;
      if constexpr (sizeof(T) == 1) return with_sign ? GgufType::i8 : GgufType::u8;
      if constexpr (sizeof(T) == 2) return with_sign ? GgufType::i16 : GgufType::u16;
      if constexpr (sizeof(T) == 4) return with_sign ? GgufType::i32 : GgufType::u32;
      if constexpr (sizeof(T) == 8) return with_sign ? GgufType::i64 : GgufType::u64;
    }
    return GgufType::string;
  }

  struct Entry {
    std::string key;
    Bytes bytes;
  };
  std::vector<Entry> entries_;
  std::size_t tensor_count_ = 0;
  Bytes descriptions_, data_;
};

/// Returns a file with the shape of tiny_llama() in any architecture: metadata without a
/// vocabulary, and the token embedding.
GgufWriter tiny_model(const std::string& architecture);

/// Returns the smallest file that is a complete model: its metadata, a vocabulary of
/// four tokens and the token embedding.
GgufWriter tiny_llama();

}  // namespace spectr
