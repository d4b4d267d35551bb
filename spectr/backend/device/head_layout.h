#pragma once

// Where a block of the cache has the keys and values of a head, as plain data for host and kernels.

#include "spectr/backend/device/attention_rows.h"

namespace spectr {

/// So many neighbouring numbers of a key or a value share a scale as q8_0 (q8_dims).
inline constexpr int scale_dims = 32;

/// Bytes of a number, by the place of its type in KvType: floats, halves, q8_0.
constexpr int bytes_of_cached(int type) {
  return type == 0 ? 4 : type == 1 ? 2 : 1;
}

/// A head's part of a block, in bytes from where it begins. Zeros fill up the last four numbers:
///
///     keys     [dimension / 4][slot][4],     of q8_0 their scales [dimension / 32][slot], floats
///     values   [slot][dimension],            of q8_0 their scales [slot][dimension / 32]
///
/// Where keys have the values there are no others: the first `value_dim` numbers of each.
struct HeadLayout {
  int dim, value_dim;
  int key_type, value_type;  ///< as bytes_of_cached() has them
  int key_scales, values, value_scales, bytes;
  bool keys_have_values;

  constexpr HeadLayout(int head_dim, int head_value_dim, int type_of_keys, int type_of_values, bool once)
      : dim(head_dim),
        value_dim(head_value_dim),
        key_type(type_of_keys),
        value_type(once ? type_of_keys : type_of_values),
        key_scales(chunk_slots * whole_fours(dim) * bytes_of_cached(key_type)),
        values(key_scales + bytes_of_scales(dim, key_type)),
        value_scales(once ? values
                          : values + chunk_slots * whole_fours(value_dim) * bytes_of_cached(value_type)),
        bytes(once ? values : value_scales + bytes_of_scales(value_dim, value_type)),
        keys_have_values(once) {}

  /// Numbers of a value with those that fill up its last four.
  constexpr int value_numbers() const { return whole_fours(value_dim); }

  /// Dimension d of a slot's key, and the scale that it has as q8_0.
  constexpr int key(int slot, int d) const {
    return ((d / 4 * chunk_slots + slot) * 4 + d % 4) * bytes_of_cached(key_type);
  }
  constexpr int key_scale(int slot, int d) const {
    return key_scales + (d / scale_dims * chunk_slots + slot) * 4;
  }
  /// The same of its value.
  constexpr int value(int slot, int d) const {
    if (keys_have_values) return key(slot, d);
    return values + (slot * value_numbers() + d) * bytes_of_cached(value_type);
  }
  constexpr int value_scale(int slot, int d) const {
    if (keys_have_values) return key_scale(slot, d);
    return value_scales + (slot * scales_of(value_dim) + d / scale_dims) * 4;
  }

  static constexpr int whole_fours(int numbers) { return (numbers + 3) / 4 * 4; }
  static constexpr int scales_of(int numbers) { return (numbers + scale_dims - 1) / scale_dims; }

 private:
  static constexpr int bytes_of_scales(int numbers, int type) {
    return type == 2 ? chunk_slots * scales_of(numbers) * 4 : 0;
  }
};

}  // namespace spectr
