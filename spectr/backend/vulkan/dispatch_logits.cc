#include "spectr/backend/device/extra_token.h"
#include "spectr/backend/vulkan/lowering.h"

namespace spectr::vulkan {

void Lowering::operator()(const call::Spread& c) {
  begin(Kernel::spread);
  // Any column of a row can be read.
  end({reads(0, c.some.at, rest_of(c.some.at)), as_uint(c.some.stride), reads(1, c.columns, c.cols * word),
       writes(2, c.out, c.rows, c.cols), as_uint(c.out.stride), as_uint(c.cols)},
      c.rows, div_up(c.cols, columns_of_group));
}

void Lowering::operator()(const call::ExtraTokenLogits& c) {
  begin(Kernel::extra_token_logits);
  // Any logit of a row can be written, and any row of weights can be read.
  end({reads(0, c.x, c.rows, c.cols), as_uint(c.x.stride), reads(1, c.words, c.count * sizeof(ExtraToken)),
       reads(2, c.weights.at, rest_of(c.weights.at)), as_uint(c.weights.stride),
       writes(3, c.out, c.rows, c.out.stride), as_uint(c.out.stride), as_uint(c.cols), as_uint(c.scale),
       as_uint(c.cap)},
      c.count / 16);
}

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
