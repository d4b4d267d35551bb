#include "spectr/kernels/panels.h"

#include <algorithm>
#include <cstring>

#include "spectr/base/rounding.h"

namespace spectr {
namespace {

/// Adds the codes of one row and block to the plane at `plane`: bits [from, from + bits) of each.
template <int bits>
void write_plane(const std::uint8_t* codes, int row, int from, std::uint8_t* plane) {
  plane += 4 * row;
  for (int column = 0; column < 32; ++column) {
    const CodePlace place = code_place(0, column, bits);
    const int code = codes[column] >> from & ((1 << bits) - 1);
    plane[place.byte] = static_cast<std::uint8_t>(plane[place.byte] | code << place.shift);
  }
}

template <int bits>
void read_plane(const std::uint8_t* plane, int row, int to, std::uint8_t* codes) {
  plane += 4 * row;
  for (int column = 0; column < 32; ++column) {
    const CodePlace place = code_place(0, column, bits);
    const int code = plane[place.byte] >> place.shift & ((1 << bits) - 1);
    codes[column] = static_cast<std::uint8_t>(codes[column] | code << to);
  }
}

/// call.operator()<bits>() for the widths that planes have; nothing for an absent plane.
template <class Call>
void with_width(int bits, const Call& call) {
  if (bits == 8) call.template operator()<8>();
  if (bits == 4) call.template operator()<4>();
  if (bits == 2) call.template operator()<2>();
  if (bits == 1) call.template operator()<1>();
}

void write_unit(const PanelShape& shape, const CodeUnit& unit, int row, std::size_t index,
                std::uint8_t* panel) {
  const CodeLayout& layout = shape.layout;
  const auto blocks = static_cast<std::size_t>(layout.blocks());
  for (std::size_t b = 0; b < blocks; ++b) {
    std::uint8_t* low = panel + (index * blocks + b) * shape.block_bytes();
    std::uint8_t* high = low + 64 * layout.low_bits;
    const std::uint8_t* codes = &unit.codes[32 * b];
    with_width(layout.low_bits, [&]<int bits>() { write_plane<bits>(codes, row, 0, low); });
    with_width(layout.high_bits, [&]<int bits>() { write_plane<bits>(codes, row, layout.low_bits, high); });
  }
  std::uint8_t* header = panel + shape.headers_at() + index * shape.header_bytes();
  for (int i = 0; i < layout.halves; ++i) std::memcpy(header + 32 * i + 2 * row, &unit.halves[i], 2);
  header += 32 * layout.halves;
  for (int i = 0; i < layout.scale_bytes; ++i) header[16 * i + row] = unit.scales[i];
}

}  // namespace

/// In line comes what is 16 KiB further. The four places are the four panels after these four, a quarter of
/// each while one of these is used, or else the quarters of the next panel that is not in use. If there is
/// none, they are where this panel is.
ComingPanels PanelRun::coming_after(std::size_t panel, std::size_t at_once) const {
  const std::size_t distance = shape.panel_bytes(), quarter = shape.headers_at() / 4;
  const std::size_t left = coming - std::min(coming, panel);  // this one included
  if (order == PanelOrder::in_line) {
    const std::size_t ahead = std::size_t{16} << 10;
    return {codes_of(panel) + (left * distance >= ahead + distance ? ahead : 0), 0, 0};
  }
  const std::size_t of_four = (index + panel) % 4;
  const auto headers = static_cast<std::ptrdiff_t>(left > at_once ? at_once * distance : 0);
  if (order == PanelOrder::abreast && left + of_four >= 8) {
    return {codes_of(panel + 4 - of_four) + of_four * quarter, distance, headers};
  }
  return {codes_of(panel) + headers, quarter, headers};
}

void read_unit(const PanelShape& shape, const std::uint8_t* panel, int row, std::size_t index,
               CodeUnit& unit) {
  const CodeLayout& layout = shape.layout;
  const auto blocks = static_cast<std::size_t>(layout.blocks());
  unit.codes.fill(0);
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::uint8_t* low = panel + (index * blocks + b) * shape.block_bytes();
    const std::uint8_t* high = low + 64 * layout.low_bits;
    std::uint8_t* codes = &unit.codes[32 * b];
    with_width(layout.low_bits, [&]<int bits>() { read_plane<bits>(low, row, 0, codes); });
    with_width(layout.high_bits, [&]<int bits>() { read_plane<bits>(high, row, layout.low_bits, codes); });
  }
  const std::uint8_t* header = panel + shape.headers_at() + index * shape.header_bytes();
  for (int i = 0; i < layout.halves; ++i) std::memcpy(&unit.halves[i], header + 32 * i + 2 * row, 2);
  header += 32 * layout.halves;
  for (int i = 0; i < layout.scale_bytes; ++i) unit.scales[i] = header[16 * i + row];
}

AlignedBytes pack_panels(TensorType type, const PanelShape& shape, std::size_t rows,
                         std::span<const std::byte> file, ThreadPool& pool, SharedPages* pages) {
  const std::size_t panels = div_up(rows, panel_rows);
  const std::size_t unit_bytes = format_of(type).bytes;
  const std::size_t size = panels * shape.panel_bytes();
  AlignedBytes packed = pages != nullptr ? pages->allocate(size) : allocate_aligned(size);
  pool.parallel_for(panels, 1, [&](std::size_t begin, std::size_t end) {
    CodeUnit unit{};
    std::fill(packed.get() + begin * shape.panel_bytes(), packed.get() + end * shape.panel_bytes(), 0);
    for (std::size_t row = begin * panel_rows; row < std::min(end * panel_rows, rows); ++row) {
      std::uint8_t* panel = packed.get() + row / panel_rows * shape.panel_bytes();
      for (std::size_t i = 0; i < shape.units; ++i) {
        split_unit(type, file.data() + (row * shape.units + i) * unit_bytes, unit);
        write_unit(shape, unit, static_cast<int>(row % panel_rows), i, panel);
      }
    }
  });
  return packed;
}

}  // namespace spectr
