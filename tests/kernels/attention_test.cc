#include "spectr/kernels/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "spectr/kernels/scalar_ops.h"
#include "tests/kernels/vector_kernels.h"
#include "tests/support/random_tensor.h"

namespace spectr {
namespace {

using test::random_floats;

constexpr std::size_t slots = 96;

/// A query and a cache of `slots` slots for heads of one width.
struct Head {
  std::size_t width;
  std::vector<float> q = random_floats(width, 1);
  std::vector<float> keys = random_floats(slots * width, 2);
  std::vector<float> values = random_floats(slots * width, 3);
  std::vector<float> scores = std::vector<float>(slots + key_group);
  std::vector<float> out = std::vector<float>(width);

  std::vector<float> attend_to(std::size_t prefix, std::span<const int> extra) {
    attend(q, keys.data(), values.data(), prefix, extra, scale(), scores, out);
    return out;
  }
  float scale() const { return 1.0f / std::sqrt(static_cast<float>(width)); }
};

TEST(Attend, AgreesWithItsTwinOverContiguousAndListedSlots) {
  const std::vector<int> listed = {70, 71, 75, 79};
  at_every_target([&] {
    for (const std::size_t width : {1, 7, 16, 33, 48, 64, 80, 128}) {
      Head head{width};
      for (const std::size_t prefix : {0, 1, 3, 4, 5, 16, 31, 66}) {
        for (const std::size_t extra : {0, 1, 4}) {
          if (prefix + extra == 0) continue;
          const auto list = std::span(listed).first(extra);
          std::vector<float> expected(width);
          scalar::attend(head.q, head.keys.data(), head.values.data(), prefix, list, head.scale(),
                         head.scores, expected);
          expect_close(head.attend_to(prefix, list), expected, 5e-6);
        }
      }
    }
  });
}

TEST(Attend, GivesTheSameBitsWhetherASlotIsListedOrNot) {
  at_every_target([] {
    for (const std::size_t width : {7, 48, 64}) {
      Head head{width};
      for (const std::size_t count : {1, 17, 66}) {
        const std::vector<float> whole = head.attend_to(count, {});
        for (std::size_t prefix = count > 5 ? count - 5 : 0; prefix < count; ++prefix) {
          std::vector<int> extra;
          for (std::size_t s = prefix; s < count; ++s) extra.push_back(static_cast<int>(s));
          EXPECT_EQ(head.attend_to(prefix, extra), whole) << width << " dimensions, " << prefix << " slots";
        }
      }
    }
  });
}

TEST(Attend, LooksAtNoOtherSlot) {
  at_every_target([] {
    Head head{48};
    const std::vector<int> extra = {40, 42};
    const std::vector<float> expected = head.attend_to(20, extra);
    for (std::size_t s = 20; s < slots; ++s) {
      if (s == 40 || s == 42) continue;
      for (std::size_t j = 0; j < 48; ++j) {
        head.keys[key_place(s, j, 48)] = std::numeric_limits<float>::quiet_NaN();
        head.values[s * 48 + j] = std::numeric_limits<float>::quiet_NaN();
      }
    }
    EXPECT_EQ(head.attend_to(20, extra), expected);
  });
}

}  // namespace
}  // namespace spectr
