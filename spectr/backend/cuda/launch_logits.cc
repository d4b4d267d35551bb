#include "spectr/backend/cuda/lowering.h"

namespace spectr::cuda {

void Lowering::operator()(const call::Top& c) {
  const Top p{matrix(c.x), as_int(c.size), as_int(c.k), at<Best>(c.out)};
  add("top", div_up(c.size, call::segment), c.rows, 512, p);
}

void Lowering::operator()(const call::SumExp& c) {
  const SumExp p{matrix(c.x), as_int(c.size), c.factor, at<float>(c.out)};
  add("sum_exp", div_up(c.size, call::segment), c.rows, 512, p);
}

}  // namespace spectr::cuda
