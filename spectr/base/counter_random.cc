#include "spectr/base/counter_random.h"

#include <algorithm>
#include <cmath>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"

namespace spectr {
namespace {

// Number of weights that are skipped at a time.
constexpr std::size_t block = 64;

struct Product {
  std::uint64_t high, low;
};

Product multiply(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
}

}  // namespace

std::array<std::uint64_t, 4> philox4x64(std::array<std::uint64_t, 4> x, std::array<std::uint64_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const Product a = multiply(0xD2E7470EE14C6C93u, x[0]);
    const Product b = multiply(0xCA5A826395121157u, x[2]);
    x = {b.high ^ x[1] ^ key[0], b.low, a.high ^ x[3] ^ key[1], a.low};
    key[0] += 0x9E3779B97F4A7C15u;
    key[1] += 0xBB67AE8584CAA73Bu;
  }
  return x;
}

double CounterRandom::uniform() {
  const std::uint64_t purpose = static_cast<std::uint64_t>(place_.purpose);
  const auto bits = philox4x64({place_.block, place_.node, place_.position, purpose << 32 | draws_++}, key_);
  return static_cast<double>(bits[0] >> 11) * 0x1.0p-53;
}

std::size_t CounterRandom::draw(std::span<const double> weights) {
  const double total = sum_of(weights);
  SPECTR_CHECK(total > 0.0 && std::isfinite(total));
  const double target = uniform() * total;
  double below = 0.0;
  for (std::size_t begin = 0; begin < weights.size(); begin += block) {
    const auto part = weights.subspan(begin, std::min(block, weights.size() - begin));
    const double sum = sum_of(part);
    if (target >= below + sum) {
      below += sum;
      continue;
    }
    double within = below;
    for (std::size_t i = 0; i < part.size(); ++i) {
      within += part[i];
      if (part[i] > 0.0 && target < within) return begin + i;
    }
    below += sum;  // rounding made the block's sum too large; take the next positive weight
  }
  std::size_t last = weights.size() - 1;
  while (!(weights[last] > 0.0)) --last;
  return last;
}

}  // namespace spectr
