#include "spectr/backend/vulkan/lowering.h"

namespace spectr::vulkan {

void Lowering::operator()(const call::Top& c) {
  const std::size_t segments = div_up(c.size, call::segment);
  begin(Kernel::top);
  end({reads(0, c.x, c.rows, c.size), as_uint(c.x.stride), as_uint(c.size), as_uint(c.k),
       writes(1, c.out, c.rows * segments * c.k * sizeof(call::Best), sizeof(call::Best))},
      segments, c.rows);
}

void Lowering::operator()(const call::SumExp& c) {
  const std::size_t segments = div_up(c.size, call::segment);
  begin(Kernel::sum_exp);
  end({reads(0, c.x, c.rows, c.size), as_uint(c.x.stride), as_uint(c.size),
       writes(1, c.out, c.rows * segments * 2 * word), as_uint(c.factor)},
      segments, c.rows);
}

}  // namespace spectr::vulkan
