#pragma once

// Layout of a head's keys and values in a block of the KV cache, as plain data for host and kernels.

#include "spectr/backend/device/attention_rows.h"

namespace spectr {

/// Number of consecutive elements that share a scale in q8_0 (q8_dims).
inline constexpr int scale_dims = 32;

/// Returns the bytes of an element by the index of its type in KvType: f32, f16, q8_0.
constexpr int bytes_of_cached(int type) {
  return type == 0 ? 4 : type == 1 ? 2 : 1;
}

/// A head's part of a block, as byte offsets from its start. Dimensions are zero-padded to multiples of 4.
///
///     keys     [dimension / 4][slot][4]; q8_0 also has scales [dimension / 32][slot], f32
///     values   [slot][dimension]; q8_0 also has scales [slot][dimension / 32], f32
///
/// If keys contain the values (MLA), a value is the first `value_dim` numbers of its key.
struct HeadLayout {
  int dim, value_dim;
  int key_type, value_type;  ///< indices as in bytes_of_cached()
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

  /// Returns the padded size of a value.
  constexpr int value_numbers() const { return whole_fours(value_dim); }

  /// Return the offsets of dimension d of a slot's key and of its q8_0 scale.
  constexpr int key(int slot, int d) const {
    return ((d / 4 * chunk_slots + slot) * 4 + d % 4) * bytes_of_cached(key_type);
  }
  constexpr int key_scale(int slot, int d) const {
    return key_scales + (d / scale_dims * chunk_slots + slot) * 4;
  }
  /// Return the offsets of dimension d of a slot's value and of its q8_0 scale.
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
