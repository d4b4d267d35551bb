// The kernels without SIMD: one row of a panel at a time. They are the reference for the others, and the
// fallback.
#include "spectr/backend/cpu/kernels/before_target.h"
#include "spectr/backend/cpu/kernels/kernel_set-inl.h"

namespace spectr {
namespace {

struct PortableLanes {
  static constexpr std::size_t lanes = 1;
  static constexpr int largest_sweep = 2;
  static constexpr int largest_float_sweep = 1;
  static constexpr std::size_t registers = 128;  // leave register allocation to the compiler
  static constexpr Prefetching prefetching{};
  static constexpr int signed_excess = 0;

  using Bytes = std::array<std::uint8_t, 4>;
  using Ints = std::int32_t;
  using Floats = float;

  static Bytes load(const std::uint8_t* p) { return {p[0], p[1], p[2], p[3]}; }
  template <int shift, int mask>
  static Bytes field(Bytes b) {
    for (std::uint8_t& byte : b) byte = static_cast<std::uint8_t>(bits<shift, mask>(byte));
    return b;
  }
  static Bytes look_up(Bytes b, const std::int8_t* table) {
    for (std::uint8_t& byte : b) byte = static_cast<std::uint8_t>(table[byte]);
    return b;
  }
  static Bytes merge(Bytes a, Bytes b) {
    for (std::size_t i = 0; i < 4; ++i) a[i] |= b[i];
    return a;
  }

  template <class Quant>
  static Ints sum_of_products(Ints sum, Bytes w, const std::uint8_t* q) {
    for (std::size_t i = 0; i < 4; ++i) sum += static_cast<Quant>(w[i]) * static_cast<std::int8_t>(q[i]);
    return sum;
  }
  static Ints dot(Ints sum, Bytes w, const std::uint8_t* q) {
    return sum_of_products<std::uint8_t>(sum, w, q);
  }
  static Bytes signed_quants(Bytes w) { return w; }
  static Ints dot_signed(Ints sum, Bytes w, const std::uint8_t* q) {
    return sum_of_products<std::int8_t>(sum, w, q);
  }

  static Ints broadcast_int(const std::uint8_t* p) { return value_at<Ints>(p); }
  static Ints bytes(const std::uint8_t* p) { return *p; }
  static Ints signed_bytes(const std::uint8_t* p) { return static_cast<std::int8_t>(*p); }
  template <int shift, int mask>
  static Ints bits(Ints b) {
    if constexpr (shift < 0) {
      return b << -shift & mask;
    } else {
      return b >> shift & mask;
    }
  }
  static Ints either(Ints a, Ints b) { return a | b; }
  static Ints add(Ints a, int b) { return a + b; }

  static Floats zero_floats() { return 0; }
  static Floats broadcast_float(const std::uint8_t* p) { return value_at<Floats>(p); }
  static Floats float_of(float value) { return value; }
  static Floats as_floats(Ints a) { return std::bit_cast<float>(a); }
  static Ints as_ints(Floats a) { return std::bit_cast<Ints>(a); }
  static Floats subtract(Floats a, Floats b) { return a - b; }
  static Floats to_float(Ints a) { return static_cast<float>(a); }
  static Floats negate(Floats a) { return -a; }
  static Floats multiply(Floats a, Floats b) { return a * b; }
  static Floats add_product(Floats sum, Floats a, Floats b) { return std::fma(a, b, sum); }
  static Floats subtract_product(Floats sum, Floats a, Floats b) { return std::fma(-a, b, sum); }
  static Floats f32s(const void* p) { return value_at<float>(p); }
  static Floats f16s(const void* p) { return f16_to_float(value_at<std::uint16_t>(p)); }
  static Floats bf16s(const void* p) { return bf16_to_float(value_at<std::uint16_t>(p)); }
  static Floats in_register(Floats v) { return v; }
  static float sum_of_16(const Floats (&v)[16]) {
    float s[16];
    std::memcpy(s, v, sizeof s);
    for (int width = 8; width > 0; width /= 2) {
      for (int i = 0; i < width; ++i) s[i] += s[i + width];
    }
    return s[0];
  }
  static void store(float* p, Floats a) { *p = a; }

 private:
  template <class T>
  static T value_at(const void* p) {
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
  }
};

}  // namespace

const KernelSet& portable_kernels() {
  return kernel_set_of<PortableLanes>;
}

}  // namespace spectr
