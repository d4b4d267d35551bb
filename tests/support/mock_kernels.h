#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace spectr::test {

/// A kernel as it was compiled.
struct MockKernel {
  std::string image, name;
  std::size_t parameter_bytes;
  int threads;
  void (*run)(const void* parameters);
  int shared_bytes = 48 << 10;
};

/// All kernels by their names, to run on fibers.
std::map<std::string, MockKernel> mock_kernels();

/// Adds those of products: on GPUs from Hopper on, and before.
void add_mock_products(std::map<std::string, MockKernel>& all);
void add_mock_products_by_threads(std::map<std::string, MockKernel>& all);

}  // namespace spectr::test
