#include "spectr/gguf/gguf_value.h"

#include <utility>

namespace spectr {
namespace {

/// Returns the minimum bytes of a value of this type, which is its exact size unless it is a string.
std::uint64_t min_size(GgufType type) {
  switch (type) {
    case GgufType::u8:
    case GgufType::i8:
    case GgufType::boolean:
      return 1;
    case GgufType::u16:
    case GgufType::i16:
      return 2;
    case GgufType::u32:
    case GgufType::i32:
    case GgufType::f32:
      return 4;
    case GgufType::u64:
    case GgufType::i64:
    case GgufType::f64:
    case GgufType::string:
      return 8;
    case GgufType::array:
      break;
  }
  std::unreachable();
}

template <class Stored, class Widened>
Result<GgufValue> widened(ByteCursor& cursor) {
  SPECTR_TRY(const auto value, cursor.number<Stored>("value"));
  return GgufValue(static_cast<Widened>(value));
}

Result<GgufValue> read_boolean(ByteCursor& cursor) {
  SPECTR_TRY(const auto value, cursor.number<std::uint8_t>("value"));
  if (value > 1) return error("a boolean is {}, but must be 0 or 1", value);
  return GgufValue(value == 1);
}

Result<GgufValue> read_string(ByteCursor& cursor) {
  SPECTR_TRY(const auto value, cursor.string("string"));
  return GgufValue(value);
}

Result<GgufValue> read_array(ByteCursor& cursor) {
  constexpr std::uint64_t max_elements = std::uint64_t{1} << 30;
  SPECTR_TRY(const auto type, read_type(cursor, "array's element type"));
  if (type == GgufType::array) return error("array's element type is array, but arrays must not be nested");
  SPECTR_TRY(const auto count, cursor.number<std::uint64_t>("array's length"));
  if (count > max_elements || count > cursor.remaining() / min_size(type)) {
    return error("array's length is {} elements of type {}, but only {} bytes are left and 2^30 is the limit",
                 count, *name_of(type), cursor.remaining());
  }
  ByteCursor elements = cursor;
  std::uint64_t size = count * min_size(type);
  if (type == GgufType::string || type == GgufType::boolean) {
    for (std::uint64_t i = 0; i < count; ++i) SPECTR_TRY_VOID(read_value(elements, type));
    size = elements.position() - cursor.position();
  }
  SPECTR_TRY(const auto bytes, cursor.take(size, "array"));
  return GgufValue(GgufArray{type, count, bytes});
}

}  // namespace

Result<GgufType> read_type(ByteCursor& cursor, std::string_view what) {
  SPECTR_TRY(const auto number, cursor.number<std::uint32_t>(what));
  const auto type = static_cast<GgufType>(number);
  if (!name_of(type)) return error("{} is {}, but the types are numbered 0 to 12", what, number);
  return type;
}

Result<GgufValue> read_value(ByteCursor& cursor, GgufType type) {
  switch (type) {
    case GgufType::u8:
      return widened<std::uint8_t, std::uint64_t>(cursor);
    case GgufType::u16:
      return widened<std::uint16_t, std::uint64_t>(cursor);
    case GgufType::u32:
      return widened<std::uint32_t, std::uint64_t>(cursor);
    case GgufType::u64:
      return widened<std::uint64_t, std::uint64_t>(cursor);
    case GgufType::i8:
      return widened<std::int8_t, std::int64_t>(cursor);
    case GgufType::i16:
      return widened<std::int16_t, std::int64_t>(cursor);
    case GgufType::i32:
      return widened<std::int32_t, std::int64_t>(cursor);
    case GgufType::i64:
      return widened<std::int64_t, std::int64_t>(cursor);
    case GgufType::f32:
      return widened<float, double>(cursor);
    case GgufType::f64:
      return widened<double, double>(cursor);
    case GgufType::boolean:
      return read_boolean(cursor);
    case GgufType::string:
      return read_string(cursor);
    case GgufType::array:
      return read_array(cursor);
  }
  std::unreachable();
}

}  // namespace spectr
