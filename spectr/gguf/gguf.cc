#include "spectr/gguf/gguf.h"

#include <array>
#include <cstring>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

#include "spectr/base/names.h"
#include "spectr/gguf/byte_cursor.h"
#include "spectr/gguf/gguf_reader.h"
#include "spectr/gguf/mapped_file.h"
#include "spectr/gguf/split_file.h"

namespace spectr {
namespace {

constexpr std::array<std::string_view, 13> type_names = {
    "u8", "i8", "u16", "i16", "u32", "i32", "f32", "boolean", "string", "array", "u64", "i64", "f64"};

std::string kind(const GgufValue& value) {
  struct Kind {
    std::string operator()(std::uint64_t) const { return "an integer"; }
    std::string operator()(std::int64_t) const { return "an integer"; }
    std::string operator()(double) const { return "a real number"; }
    std::string operator()(bool) const { return "a boolean"; }
    std::string operator()(std::string_view) const { return "a string"; }
    std::string operator()(const GgufArray& array) const {
      return fmt::format("an array of type {}", type_names[static_cast<std::size_t>(array.type)]);
    }
  };
  return std::visit(Kind{}, value);
}

std::unexpected<Error> missing(const Gguf& file, std::string_view key) {
  return error("{}: {} is missing", file.name(), key);
}

template <class T>
Result<T> value_as(const Gguf& file, std::string_view key, std::string_view wanted) {
  const GgufValue* value = file.find(key);
  if (!value) return missing(file, key);
  if (const T* held = std::get_if<T>(value)) return *held;
  return file.wrong_type(key, wanted);
}

/// Appends the elements of an array that are stored as T. Returns false if one does not fit.
template <class T, class Out>
bool append(const GgufArray& array, std::vector<Out>& out) {
  bool fits = true;
  for (std::uint64_t i = 0; i < array.count; ++i) {
    T element;
    std::memcpy(&element, array.bytes.data() + i * sizeof(T), sizeof(T));
    if constexpr (std::is_integral_v<T>) fits = fits && std::in_range<Out>(element);
    out.push_back(static_cast<Out>(element));
  }
  return fits;
}

}  // namespace

Result<Gguf> Gguf::open(const std::filesystem::path& path) {
  SPECTR_TRY(Gguf file, open_file(path));
  SPECTR_TRY(const SplitPlace place, split_place(file));
  if (place.count > 1) return open_parts(std::move(file));
  return file;
}

Result<Gguf> Gguf::open_file(const std::filesystem::path& path) {
  SPECTR_TRY(auto file, MappedFile::open(path));
  SPECTR_TRY(auto gguf, parse(file->bytes(), path.native()));
  gguf.files_.push_back(std::move(file));
  return gguf;
}

Result<Gguf> Gguf::open_parts(Gguf part) {
  SPECTR_TRY(const SplitPlace known, split_place(part));
  SPECTR_TRY(Gguf whole, open_file(part_name(part.name(), 0)));
  for (std::size_t number = 0; number < known.count; ++number) {
    Gguf* at_hand = &whole;
    std::optional<Gguf> next;
    if (number > 0) {
      SPECTR_TRY(next, open_file(part_name(part.name(), number)));
      at_hand = &*next;
    }
    SPECTR_TRY(const SplitPlace place, split_place(*at_hand));
    if (place.count != known.count || place.number != number) {
      return error("{}: does not say that it is part {} of {}, as {} does", at_hand->name(), number + 1,
                   known.count, part.name());
    }
    if (next) SPECTR_TRY_VOID(whole.join(*std::move(next)));
  }
  constexpr std::string_view tensors_key = "split.tensors.count";
  SPECTR_TRY(const auto tensors, whole.integer(tensors_key, whole.tensors_.size()));
  if (tensors != whole.tensors_.size()) {
    return error("{}: {} is {}, but its {} parts have {} tensors", whole.name(), tensors_key, tensors,
                 known.count, whole.tensors_.size());
  }
  return whole;
}

Result<void> Gguf::join(Gguf part) {
  for (const std::string_view key : {"general.architecture", "general.name"}) {
    if (!part.find(key)) continue;  // most parts but the first lack it
    SPECTR_TRY(const auto own, string(key));
    SPECTR_TRY(const auto other, part.string(key));
    if (own == other) continue;
    return error("{}: {} is {}, but {} in {}: they are parts of different models", part.name(), key,
                 quote(other), quote(own), name_);
  }
  for (const GgufTensor& tensor : part.tensors_) {
    if (!tensor_index_.emplace(tensor.name, tensors_.size()).second) {
      return error("{}: tensor {} is in a part before this one, too: they are parts of different models",
                   part.name(), quote(tensor.name));
    }
    tensors_.push_back(tensor);
  }
  std::ranges::move(part.files_, std::back_inserter(files_));
  return {};
}

Result<Gguf> Gguf::parse(std::span<const std::byte> bytes, std::string name) {
  Gguf gguf;
  gguf.name_ = std::move(name);
  if (const auto done = GgufReader(bytes, gguf).read(); !done) {
    return error(done.error().code, "{}: {}", gguf.name_, done.error().message);
  }
  return gguf;
}

std::optional<std::string_view> name_of(GgufType type) {
  const auto number = static_cast<std::size_t>(type);
  if (number >= type_names.size()) return std::nullopt;
  return type_names[number];
}

void Gguf::forget(std::span<const std::byte> bytes) const {
  for (const auto& file : files_) {
    if (file->contains(bytes)) file->forget(bytes);
  }
}

const GgufTensor* Gguf::tensor(std::string_view name) const {
  const auto found = tensor_index_.find(name);
  return found == tensor_index_.end() ? nullptr : &tensors_[found->second];
}

// This cannot overflow: tensors do not overlap, and no format stores more than eight elements in a byte.
std::uint64_t Gguf::parameters() const {
  std::uint64_t sum = 0;
  for (const GgufTensor& tensor : tensors_) sum += tensor.rows() * tensor.cols();
  return sum;
}

std::uint64_t Gguf::tensor_bytes() const {
  std::uint64_t sum = 0;
  for (const GgufTensor& tensor : tensors_) sum += tensor.bytes.size();
  return sum;
}

const GgufValue* Gguf::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

std::unexpected<Error> Gguf::wrong_type(std::string_view key, std::string_view wanted) const {
  return error("{}: {} is {}, but must be {}", name_, key, kind(*find(key)), wanted);
}

Result<std::uint64_t> Gguf::integer(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return missing(*this, key);
  if (const auto* number = std::get_if<std::uint64_t>(value)) return *number;
  const auto* number = std::get_if<std::int64_t>(value);
  if (!number) return wrong_type(key, "an integer");
  if (*number < 0) return error("{}: {} is {}, but must not be negative", name_, key, *number);
  return static_cast<std::uint64_t>(*number);
}

Result<std::uint64_t> Gguf::integer(std::string_view key, std::uint64_t fallback) const {
  if (!find(key)) return fallback;
  return integer(key);
}

Result<double> Gguf::real(std::string_view key) const {
  return value_as<double>(*this, key, "a real number");
}

Result<double> Gguf::real(std::string_view key, double fallback) const {
  if (!find(key)) return fallback;
  return real(key);
}

Result<bool> Gguf::boolean(std::string_view key, bool fallback) const {
  if (!find(key)) return fallback;
  return value_as<bool>(*this, key, "a boolean");
}

Result<std::string_view> Gguf::string(std::string_view key) const {
  return value_as<std::string_view>(*this, key, "a string");
}

Result<std::string_view> Gguf::string(std::string_view key, std::string_view fallback) const {
  if (!find(key)) return fallback;
  return string(key);
}

Result<std::vector<std::string_view>> Gguf::strings(std::string_view key) const {
  std::vector<std::string_view> out;
  if (!find(key)) return out;
  constexpr std::string_view wanted = "an array of strings";
  SPECTR_TRY(const auto array, value_as<GgufArray>(*this, key, wanted));
  if (array.type != GgufType::string) return wrong_type(key, wanted);
  out.reserve(array.count);
  ByteCursor cursor(array.bytes);
  for (std::uint64_t i = 0; i < array.count; ++i) {
    SPECTR_TRY(const auto text, cursor.string(key));
    out.push_back(text);
  }
  return out;
}

Result<std::vector<float>> Gguf::reals(std::string_view key) const {
  std::vector<float> out;
  if (!find(key)) return out;
  constexpr std::string_view wanted = "an array of type f32";
  SPECTR_TRY(const auto array, value_as<GgufArray>(*this, key, wanted));
  if (array.type != GgufType::f32) return wrong_type(key, wanted);
  append<float>(array, out);
  return out;
}

Result<std::vector<std::int64_t>> Gguf::integers(std::string_view key) const {
  std::vector<std::int64_t> out;
  if (!find(key)) return out;
  constexpr std::string_view wanted = "an array of integers";
  SPECTR_TRY(const auto array, value_as<GgufArray>(*this, key, wanted));
  bool fits = true;
  switch (array.type) {
    case GgufType::u8:
      append<std::uint8_t>(array, out);
      break;
    case GgufType::i8:
      append<std::int8_t>(array, out);
      break;
    case GgufType::u16:
      append<std::uint16_t>(array, out);
      break;
    case GgufType::i16:
      append<std::int16_t>(array, out);
      break;
    case GgufType::u32:
      append<std::uint32_t>(array, out);
      break;
    case GgufType::i32:
      append<std::int32_t>(array, out);
      break;
    case GgufType::u64:
      fits = append<std::uint64_t>(array, out);
      break;
    case GgufType::i64:
      append<std::int64_t>(array, out);
      break;
    default:
      return wrong_type(key, wanted);
  }
  if (!fits) return error("{}: {} holds a number of 2^63 or more", name_, key);
  return out;
}

}  // namespace spectr
