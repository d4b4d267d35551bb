// CPU operations of drafters, and of the target states that they read.
#include <algorithm>

#include "spectr/backend/cpu/cpu_ops.h"
#include "spectr/backend/cpu/for_each_row.h"
#include "spectr/backend/cpu/kernels/vector_ops.h"

namespace spectr {

void CpuOps::tap(Buffer from, std::size_t cols, std::size_t first) {
  const Span2d<float> x = view(from, cols), out = take_logits().feature_rows(batch_->rows());
  for_each_row(x.rows(), cols, pool_,
               [&](std::size_t r) { std::ranges::copy(x[r], out[r].subspan(first, cols).begin()); });
}

bool CpuOps::read_caches_of(const Ops& target) {
  const auto* ops = dynamic_cast<const CpuOps*>(&target);
  if (ops == nullptr) return false;
  target_stores_ = &ops->stores_;
  return true;
}

void CpuOps::load_features() {
  std::ranges::copy(batch_->features, view(Buffer::features)[0].data());
}

void CpuOps::join(const PairSpec& pair, const EmbedSpec& embed, Buffer state) {
  const Span2d<float> joined = view(Buffer::pair), stream = view(Buffer::stream),
                      states = view(state, pair.state_width);
  for_each_row(joined.rows(), joined.cols(), pool_, [&](std::size_t r) {
    const std::span<float> token = joined[r].first(pair.token_width),
                           rest = joined[r].subspan(pair.token_width);
    embed_row(embed, r, token);
    if (pair.token_norm)
      normalize(pair.token_norm->kind, weights_.numbers_of(*pair.token_norm), token, token);
    if (pair.state_norm) {
      normalize(pair.state_norm->kind, weights_.numbers_of(*pair.state_norm), states[r], rest);
    } else {
      std::ranges::copy(states[r], rest.begin());
    }
    if (pair.projection) return;
    if (pair.normed_residual) {
      std::ranges::copy(rest, stream[r].begin());
    } else if (state != Buffer::stream) {
      std::ranges::copy(states[r], stream[r].begin());
    }
  });
}

void CpuOps::store_keys(std::size_t layer) {
  attention_.store_keys(layer, attention_buffers(*spec_.layers[layer].attention()));
}

void CpuOps::convolve(const BlockConvolutionSpec& spec, std::size_t side, Buffer buffer) {
  const std::size_t groups = spec_.width / spec.group;
  const Span2d<float> x = view(buffer, spec_.width), factors = view(Buffer::factors, spec.factors.out);
  const std::span<const float> base = weights_.vector(spec.base);
  std::vector<std::size_t> lags(x.rows());  // preceding rows of the same block, at most kernel − 1
  for (std::size_t r = 1; r < x.rows(); ++r)
    lags[r] = batch_->caches[r] == batch_->caches[r - 1] ? std::min(lags[r - 1] + 1, spec.kernel - 1) : 0;
  for (std::size_t r = x.rows(); r-- > 0;) {  // backwards, so that preceding rows are unmodified
    for (std::size_t c = 0; c < spec_.width; ++c) {
      float sum = 0.0F;
      for (std::size_t lag = 0; lag <= lags[r]; ++lag) {
        const std::size_t at = side * spec.kernel + lag;
        sum += (base[at * spec_.width + c] + factors[r][at * groups + c / spec.group]) * x[r - lag][c];
      }
      x[r][c] = sum;
    }
  }
}

}  // namespace spectr
