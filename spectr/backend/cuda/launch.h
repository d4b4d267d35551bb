#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "spectr/backend/cuda/product_plan.h"
#include "spectr/backend/device/calls.h"

namespace spectr::cuda {

/// A kernel launch as plain data.
struct Launch {
  std::string image;   ///< name of the kernel_image() that has it
  std::string kernel;  ///< its name in kernel_list.cuh or product_list.cuh
  int groups_x, groups_y, threads;
  int shared_bytes;  ///< dynamic shared memory per thread block
  std::vector<std::byte> parameters;
};

/// Returns the device address of a slice; null if the slice is empty.
using AddressOf = std::function<std::uint64_t(const Slice&)>;

/// Appends the launches that execute the calls, in order.
void add_launches(std::span<const call::AnyCall> calls, const ProductPlans& plans,
                  const AddressOf& address_of, std::vector<Launch>& launches);

}  // namespace spectr::cuda
