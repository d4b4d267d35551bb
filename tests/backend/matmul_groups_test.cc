// Products of several groups of rows at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "spectr/backend/cpu/kernels/matmul.h"
#include "tests/support/random_tensor.h"

namespace spectr {
namespace {

// Three groups of matrices of several types, each with its own rows of x; one group has no rows.
TEST(MatmulGroups, GiveTheBitsOfProductsByThemselvesAtEveryLevel) {
  static constexpr std::size_t rows = 33, cols = 256;
  static constexpr std::size_t sizes[] = {1, 0, 17};  // numbers of rows of x of each group
  const std::vector<float> x = test::random_floats(20 * cols, 7);
  const auto x_of = [&](std::size_t group) { return Span2d<const float>(x.data(), sizes[group], cols); };
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    std::vector<std::vector<std::byte>> bytes;  // owned here, viewed by plain tensors
    std::vector<Matrix> matrices;
    for (const TensorType type : {TensorType::q8_0, TensorType::f16, TensorType::q4_0, TensorType::f32,
                                  TensorType::bf16, TensorType::q6_k}) {
      bytes.push_back(test::random_tensor(type, rows, cols, 1));
      matrices.push_back(Matrix::pack(type, rows, cols, bytes.back(), pool));
    }
    for (const KernelLevel level : available_levels()) {
      MatmulScratch scratch;
      std::vector<std::vector<float>> together(matrices.size()), apart(matrices.size());
      std::vector<Product> products;
      std::vector<ProductGroup> groups;
      products.reserve(matrices.size());
      for (std::size_t i = 0; i < matrices.size(); ++i) {
        const std::size_t group = i / 2, n = sizes[group];
        for (auto* y : {&together[i], &apart[i]}) y->assign(n * rows, NAN);
        const Product alone{matrices[i], {apart[i].data(), n, rows}};
        matmul_at(level, {&alone, 1}, x_of(group), pool, scratch);
        products.push_back({matrices[i], {together[i].data(), n, rows}});
        if (i % 2 == 1) groups.push_back({std::span(products).last(2), x_of(group)});
      }
      matmul_at(level, groups, pool, scratch);
      EXPECT_EQ(together, apart) << name_of(level) << ", " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace spectr
