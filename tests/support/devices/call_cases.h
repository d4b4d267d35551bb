#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "spectr/backend/device/extra_token.h"
#include "tests/support/devices/device_numbers.h"
#include "tests/support/random_tensor.h"

// Work with single kernel calls, for which a device and the twins must return the same bits.
namespace spectr::test {

inline void append_bits(std::vector<std::uint32_t>& all, const std::vector<std::uint32_t>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

inline std::vector<WorkOnDevice> norms_of_every_kind() {
  constexpr std::size_t n = 3, groups = 2;
  std::vector<WorkOnDevice> all;
  for (const std::size_t cols : {6, 32, 48, 288, 2600}) {
    for (const auto kind : {NormSpec::Kind::rms, NormSpec::Kind::layer}) {
      for (const bool adds : {false, true}) {
        all.emplace_back([=](Device& on) {
          const std::size_t stride = groups * cols;
          const Numbers in = send(on, random_floats(n * stride, 1)),
                        added = send(on, random_floats(n * stride, 2)), w = send(on, random_floats(cols, 3)),
                        b = send(on, random_floats(cols, 4)), out = zeros(on, n * stride * sizeof(float)),
                        picked = send(on, std::vector<int>{2, 0, 1});
          run(on, call::Norm{.kind = kind,
                             .epsilon = 1e-5f,
                             .weight = adds || cols != 48 ? w.at() : Slice(),
                             .bias = kind == NormSpec::Kind::layer ? b.at() : Slice(),
                             .in = in.rows(stride),
                             .added = adds ? added.rows(stride) : call::Rows(),
                             .out = out.rows(stride),
                             .picked = adds ? Slice() : picked.at(),
                             .rows = n,
                             .groups = groups,
                             .cols = cols});
          std::vector<std::uint32_t> found = bits(on, out);
          append_bits(found, bits(on, in));
          return found;
        });
      }
    }
  }
  return all;
}

/// Returns activations, followed by gates and a cap.
inline std::vector<WorkOnDevice> activations_of_every_kind() {
  constexpr std::size_t n = 2, cols = 200;
  const auto large = [](std::uint32_t seed) {
    std::vector<float> numbers = random_floats(n * cols, seed);
    for (float& one : numbers) one *= 9.0f;
    return numbers;
  };
  std::vector<WorkOnDevice> all;
  for (const auto kind :
       {Activation::silu, Activation::gelu_tanh, Activation::relu, Activation::clamped_silu}) {
    for (const bool has_gate : {false, true}) {
      all.emplace_back([=](Device& on) {
        const Numbers gate = send(on, large(1)), up = send(on, large(2));
        const call::Rows out = has_gate ? gate.rows(cols) : up.rows(cols);
        run(on, call::Activate{kind, 3.0f, has_gate, gate.rows(cols), up.rows(cols), out, n, cols});
        run(on, call::Gate{gate.rows(cols), up.rows(cols), n, cols, 1});
        run(on, call::Gate{gate.rows(cols), up.rows(cols), n, cols, cols});
        run(on, call::Cap{up.rows(cols), n, cols, 2.0f});
        std::vector<std::uint32_t> found = bits(on, gate);
        append_bits(found, bits(on, up));
        return found;
      });
    }
  }
  return all;
}

/// Returns questions about logits, also about those that contain NaN or infinity. The bits of a NaN are
/// unspecified: of sums with one, only its presence is returned.
inline std::vector<WorkOnDevice> questions_of_every_kind() {
  constexpr float infinity = std::numeric_limits<float>::infinity(),
                  nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<WorkOnDevice> all;
  for (const float odd : {0.5f, -infinity, infinity, nan}) {
    std::vector<float> rows = random_floats(5000, 1);
    for (std::size_t i = 0; i < rows.size(); i += 5) rows[i] = std::round(rows[i] * 8) / 8;
    rows[1100] = rows[2400] = rows[4800] = odd;
    all.emplace_back([=](Device& on) {
      const Numbers logits = send(on, rows), best = zeros(on, 2 * 3 * 40 * sizeof(call::Best)),
                    sums = zeros(on, 12 * sizeof(float));
      run(on, call::Top{{logits.at().behind(4), 2500}, 2, 2450, 40, best.at()});
      run(on, call::SumExp{logits.rows(2500), 2, 2450, 1.25f, sums.at()});
      std::vector<std::uint32_t> found = bits(on, best);
      if (odd < 1) {
        append_bits(found, bits(on, sums));
      } else {
        for (const std::size_t sum : {3, 11})
          found.push_back(std::isnan(fetch<float>(on, sums)[sum]) ? 1 : 0);
      }
      return found;
    });
  }
  return all;
}

/// Returns logits of short lists, spread over the vocabulary, and of tokens of the sequences' own.
inline std::vector<WorkOnDevice> shortlists() {
  constexpr std::size_t n = 3, vocabulary = 1030, some = 70;
  std::vector<int> columns(vocabulary, -1);
  for (std::size_t i = 0; i < some; ++i) columns[i * 14 + 3] = static_cast<int>(i);
  std::vector<ExtraToken> words(32, {0, 0, -1});
  for (int i = 0; i < 20; ++i) words[static_cast<std::size_t>(i)] = {i % 3, i % 9, 1029 - 51 * i};
  std::vector<WorkOnDevice> all;
  for (const std::size_t cols : {5, 64, 2200}) {
    for (const float cap : {0.0f, 2.0f}) {
      all.emplace_back([=](Device& on) {
        const std::size_t stride = (cols + 4) / 4 * 4;
        const Numbers from = send(on, random_floats(n * some, 1)), in = send(on, random_floats(n * cols, 2)),
                      by = send(on, random_floats(9 * stride, 3)), which = send(on, columns),
                      own = send(on, words), out = zeros(on, n * vocabulary * sizeof(float));
        run(on, call::Spread{from.rows(some), out.rows(vocabulary), which.at(), n, vocabulary});
        run(on, call::ExtraTokenLogits{.x = in.rows(cols),
                                       .out = out.rows(vocabulary),
                                       .rows = n,
                                       .words = own.at(),
                                       .count = words.size(),
                                       .weights = by.rows(stride),
                                       .cols = cols,
                                       .scale = 0.3f,
                                       .cap = cap});
        return bits(on, out);
      });
    }
  }
  return all;
}

}  // namespace spectr::test
