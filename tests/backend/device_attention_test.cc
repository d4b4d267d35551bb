// Attention on the twins agrees with the definition for all types of keys and values and for heads of any
// size, given the numbers as these types round them.
#include "tests/support/devices/device_attention.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "spectr/gguf/f16.h"
#include "tests/twins/twin_device.h"

namespace spectr {
namespace {

using namespace test;

/// Returns the numbers of a head as a cache of this type keeps them.
std::vector<float> kept(KvType type, std::span<const float> x) {
  std::vector<float> out(x.begin(), x.end());
  for (std::size_t begin = 0; begin < x.size(); begin += 32) {
    const std::span<const float> some = x.subspan(begin, std::min<std::size_t>(32, x.size() - begin));
    std::array<std::int8_t, 32> quants;
    const float scale = round_to_q8(some, std::span(quants).first(some.size()));
    for (std::size_t j = 0; j < some.size(); ++j) {
      if (type == KvType::q8_0) out[begin + j] = static_cast<float>(quants[j]) * scale;
      if (type == KvType::f16) out[begin + j] = f16_to_float(round_to_f16(some[j]).bits);
    }
  }
  return out;
}

/// The heads of keys and values of all slots: [slot][head · dim].
struct Cached {
  std::vector<std::vector<float>> keys, values;

  Cached(const AttentionCase& c, std::size_t pairs) {
    const std::size_t slots = AttentionOn::slots, width = c.kv_heads * c.dim;
    const std::vector<float> k = random_floats(slots * width, 1), v = random_floats(slots * width, 2),
                             angles = random_floats(2 * slots * pairs, 3);
    for (std::size_t i = 0; i < slots * c.kv_heads; ++i) {
      std::vector<float> key(k.begin() + static_cast<std::ptrdiff_t>(i * c.dim),
                             k.begin() + static_cast<std::ptrdiff_t>((i + 1) * c.dim));
      for (std::size_t pair = 0; pair < pairs; ++pair) {
        float &a = key[1 + 2 * pair], &b = key[2 + 2 * pair];
        const float* const angle = &angles[2 * (i / c.kv_heads * pairs + pair)];
        const float rotated = a * angle[0] - b * angle[1];
        b = a * angle[1] + b * angle[0];
        a = rotated;
      }
      keys.push_back(kept(c.types.keys, key));
      values.push_back(c.rank > 0 ? keys.back()
                                  : kept(c.types.values, std::span(v).subspan(i * c.dim, c.dim)));
    }
  }
};

/// Returns the attention output of a row's head over these slots, by the definition.
std::vector<double> attended(const AttentionCase& c, const Cached& cached, std::span<const float> q,
                             const std::vector<std::size_t>& slots, std::size_t head) {
  std::vector<double> scores, out(c.value_dim());
  const auto of = [&](std::size_t slot) { return slot * c.kv_heads + head / (c.heads / c.kv_heads); };
  double sum = c.has_sinks ? std::exp(double{random_floats(c.heads, 5)[head]}) : 0;
  for (const std::size_t slot : slots) {
    double score = 0;
    for (std::size_t d = 0; d < c.dim; ++d) score += double{q[d]} * double{cached.keys[of(slot)][d]};
    if (c.cap > 0) score = c.cap * std::tanh(score / c.cap);
    scores.push_back(std::exp(score));
    sum += scores.back();
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    for (std::size_t d = 0; d < out.size(); ++d)
      out[d] += scores[i] / sum * double{cached.values[of(slots[i])][d]};
  }
  return out;
}

TEST(DeviceAttention, IsTheDefinitionsForAllTypesAndSizes) {
  for (const AttentionCase& c : attention_cases()) {
    TwinDevice twins;
    AttentionOn on(twins, c);
    const std::vector<float> found = on.attend(), q = on.queries();
    const Cached cached(c, on.pairs());
    for (std::size_t r = 0; r < AttentionOn::rows; ++r) {
      std::vector<std::size_t> slots =
          r == 0 ? std::vector<std::size_t>{5, 64, 127} : std::vector<std::size_t>{};
      for (std::size_t i = 0; r == 1 && i < 40; ++i) slots.push_back(i * 37 % AttentionOn::slots);
      for (std::size_t i = 0; i < 64; ++i) {
        slots.push_back(64 + i);
        slots.push_back(i);
      }
      for (std::size_t h = 0; h < c.heads; ++h) {
        const std::size_t at = r * c.heads + h, dim = c.value_dim();
        const std::vector<double> expected =
            attended(c, cached, std::span(q).subspan(at * c.dim, c.dim), slots, h);
        for (std::size_t d = 0; d < dim; ++d) {
          ASSERT_NEAR(found[at * dim + d], expected[d], 1e-5 * (1 + std::abs(expected[d])))
              << text_of(c) << ", " << d;
        }
      }
    }
  }
}

TEST(DeviceAttention, SeesWhatHasMovedAsItWas) {
  for (const AttentionCase& c : attention_cases()) {
    TwinDevice twins;
    AttentionOn on(twins, c);
    const std::vector<float> before = on.attend({100, 17, 70}, 1);
    on.move(70, 127);
    on.move(127, 90);
    on.move(100, 70);
    const std::vector<float> after = on.attend({70, 17, 127}, 1);
    AttentionOn again(twins, c);
    again.move(70, 90);
    again.move(70, 127);
    again.move(100, 70);
    EXPECT_EQ(after, again.attend({100, 17, 127}, 1)) << text_of(c);
    EXPECT_NE(after, before);
  }
}

}  // namespace
}  // namespace spectr
