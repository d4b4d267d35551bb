#include "spectr/gguf/gguf_reader.h"

#include <bit>

#include "spectr/base/names.h"
#include "spectr/base/numeric.h"
#include "spectr/gguf/gguf_value.h"
#include "spectr/gguf/stored_format.h"

namespace spectr {
namespace {

constexpr std::string_view alignment_key = "general.alignment";
// The GGUF specification requires a multiple of 8, its reference reader a power of two.
constexpr std::uint64_t min_alignment = 8, max_alignment = std::uint64_t{1} << 20;
constexpr std::size_t longest_key = 65535, longest_tensor_name = 63;
// Minimum bytes of an entry and of a description: with names of one byte, a value of one byte and a single
// dimension.
constexpr std::uint64_t smallest_entry = 8 + 1 + 4 + 1, smallest_description = 8 + 1 + 4 + 8 + 4 + 8;

std::unexpected<Error> within(std::string_view field, std::string_view name, const Error& inner) {
  return error(inner.code, "{} {}: {}", field, quote(name), inner.message);
}

}  // namespace

Result<void> GgufReader::read() {
  SPECTR_TRY_VOID(read_header());
  for (std::uint64_t i = 0; i < entry_count_; ++i) SPECTR_TRY_VOID(read_entry());
  for (std::uint64_t i = 0; i < tensor_count_; ++i) SPECTR_TRY_VOID(read_description());
  return place_tensors();
}

Result<void> GgufReader::read_header() {
  constexpr std::string_view magic = "GGUF";
  SPECTR_TRY(const auto first, cursor_.take(magic.size(), "magic"));
  const std::string_view found(reinterpret_cast<const char*>(first.data()), first.size());
  if (found != magic) return error("magic is {}, but a GGUF file begins with {}", quote(found), quote(magic));

  SPECTR_TRY(const auto version, cursor_.number<std::uint32_t>("version"));
  if (version != 0 && (version & 0xFFFF) == 0) {
    return error(ErrorCode::unsupported,
                 "version is {:#010x}: a big-endian file, but only little-endian ones can be read", version);
  }
  if (version != 2 && version != 3)
    return error(ErrorCode::unsupported, "version is {}, but only 2 and 3 can be read", version);
  out_.version_ = version;

  SPECTR_TRY(tensor_count_, cursor_.number<std::uint64_t>("tensor count"));
  SPECTR_TRY(entry_count_, cursor_.number<std::uint64_t>("metadata count"));
  if (entry_count_ > cursor_.remaining() / smallest_entry) {
    return error("metadata count is {}, but the {} bytes left hold at most {}", entry_count_,
                 cursor_.remaining(), cursor_.remaining() / smallest_entry);
  }
  if (tensor_count_ > cursor_.remaining() / smallest_description) {
    return error("tensor count is {}, but the {} bytes left hold at most {}", tensor_count_,
                 cursor_.remaining(), cursor_.remaining() / smallest_description);
  }
  return {};
}

Result<void> GgufReader::read_entry() {
  SPECTR_TRY(const auto key, cursor_.string("metadata key"));
  if (key.empty()) return error("metadata key {} is empty", out_.keys_.size());
  if (key.size() > longest_key) {
    return error("metadata key {}: has {} bytes, but {} is the limit", quote(key), key.size(), longest_key);
  }
  if (out_.values_.contains(key)) return error("metadata key {} occurs twice", quote(key));

  const auto entry = [&]() -> Result<GgufValue> {
    SPECTR_TRY(const auto type, read_type(cursor_, "type"));
    SPECTR_TRY(const auto value, read_value(cursor_, type));
    if (key == alignment_key) SPECTR_TRY_VOID(read_alignment(type, value));
    return value;
  }();
  if (!entry) return within("metadata", key, entry.error());
  out_.keys_.push_back(key);
  out_.values_.emplace(key, *entry);
  return {};
}

Result<void> GgufReader::read_alignment(GgufType type, const GgufValue& value) {
  if (type != GgufType::u32) return error("has type {}, but must be u32", *name_of(type));
  alignment_ = std::get<std::uint64_t>(value);
  if (!std::has_single_bit(alignment_) || alignment_ < min_alignment || alignment_ > max_alignment) {
    return error("is {}, but must be a power of two from {} to {}", alignment_, min_alignment, max_alignment);
  }
  return {};
}

Result<void> GgufReader::read_description() {
  GgufTensor tensor{};
  SPECTR_TRY(tensor.name, cursor_.string("tensor name"));
  if (tensor.name.empty()) return error("the name of tensor {} is empty", out_.tensors_.size());
  if (tensor.name.size() > longest_tensor_name) {
    return error("tensor {}: its name has {} bytes, but {} is the limit", quote(tensor.name),
                 tensor.name.size(), longest_tensor_name);
  }
  if (!out_.tensor_index_.emplace(tensor.name, out_.tensors_.size()).second) {
    return error("tensor {} occurs twice", quote(tensor.name));
  }
  if (const auto done = read_shape(tensor); !done) return within("tensor", tensor.name, done.error());
  out_.tensors_.push_back(tensor);
  return {};
}

Result<void> GgufReader::read_shape(GgufTensor& tensor) {
  SPECTR_TRY(const auto dimensions, cursor_.number<std::uint32_t>("number of dimensions"));
  if (dimensions < 1 || dimensions > tensor.shape.size()) {
    return error("has {} dimensions, but must have 1 to {}", dimensions, tensor.shape.size());
  }
  tensor.shape.fill(1);
  std::uint64_t elements = 1;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    SPECTR_TRY(tensor.shape[i], cursor_.number<std::uint64_t>("dimension"));
    if (tensor.shape[i] == 0) return error("dimension {} is 0", i);
    if (__builtin_mul_overflow(elements, tensor.shape[i], &elements)) {
      return error("dimension {} is {}: the number of elements exceeds 2^64", i, tensor.shape[i]);
    }
  }
  SPECTR_TRY(tensor.type, cursor_.number<std::uint32_t>("type"));
  const auto format = stored_format(tensor.type);
  if (!format) {
    const std::string name = retired_or_foreign_format(tensor.type);
    if (name.empty()) return error("type is {}, which is not a known format", tensor.type);
    return error(ErrorCode::unsupported, "type is {}, {}, which cannot be read", tensor.type, name);
  }
  if (tensor.shape[0] % format->elements != 0) {
    return error("rows of {} elements are not a multiple of the {} elements in a block of {}",
                 tensor.shape[0], format->elements, format->name);
  }
  std::uint64_t size = 0;
  if (__builtin_mul_overflow(elements / format->elements, std::uint64_t{format->bytes}, &size)) {
    return error("{} elements of {} exceed 2^64 bytes", elements, format->name);
  }
  SPECTR_TRY(const auto offset, cursor_.number<std::uint64_t>("offset"));
  sizes_.push_back(size);
  offsets_.push_back(offset);
  return {};
}

/// Invariant: `expected` lies within the file or less than one alignment (at most 2^20) after its end, so no
/// sum overflows.
Result<void> GgufReader::place_tensors() {
  const auto aligned = [&](std::uint64_t at) { return round_up(at, alignment_); };
  const std::uint64_t begin = aligned(cursor_.position());
  const std::uint64_t available = begin < bytes_.size() ? bytes_.size() - begin : 0;
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < out_.tensors_.size(); ++i) {
    GgufTensor& tensor = out_.tensors_[i];
    if (offsets_[i] != expected) {
      return error("tensor {}: offset is {}, but {} is next (the alignment is {})", quote(tensor.name),
                   offsets_[i], expected, alignment_);
    }
    if (expected > available || sizes_[i] > available - expected) {
      return error(
          "tensor {}: {} bytes at offset {} reach beyond the end of the file, which has {} bytes of data",
          quote(tensor.name), sizes_[i], expected, available);
    }
    tensor.bytes = bytes_.subspan(begin + expected, sizes_[i]);
    expected = aligned(expected + sizes_[i]);
  }
  return {};
}

}  // namespace spectr
