#include "spectr/backend/cuda/lowering.h"

namespace spectr::cuda {

void Lowering::operator()(const call::Spread& c) {
  add_rows("spread", c.rows, c.cols,
           Spread{matrix(c.some), matrix(c.out), at<const int>(c.columns), as_int(c.cols)});
}

void Lowering::operator()(const call::ExtraTokenLogits& c) {
  const ExtraTokenLogits p{.x = matrix(c.x),
                           .out = written(c.out),
                           .weights = matrix(c.weights),
                           .words = at<const ExtraToken>(c.words),
                           .cols = as_int(c.cols),
                           .scale = c.scale,
                           .cap = c.cap};
  add("extra_token_logits", c.count / 4, 1, 128, p);
}

void Lowering::operator()(const call::Top& c) {
  const Top p{matrix(c.x), as_int(c.size), as_int(c.k), at<Best>(c.out)};
  add("top", div_up(c.size, call::segment), c.rows, 512, p);
}

void Lowering::operator()(const call::SumExp& c) {
  const SumExp p{matrix(c.x), as_int(c.size), c.factor, at<float>(c.out)};
  add("sum_exp", div_up(c.size, call::segment), c.rows, 512, p);
}

}  // namespace spectr::cuda
