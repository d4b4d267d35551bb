#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "capi/guard.h"
#include "spectr/base/counter_random.h"
#include "spectr/base/version.h"
#include "spectr/sampling/warp.h"
#include "spectr/transport/checked_distribution.h"

// The version, distributions of logits, and draws from distributions.

namespace {

using namespace spectr;
using namespace spectr::capi;

// No plan and no verifier makes a choice at this node, so that draws of spectr_sample share no random number
// with theirs.
constexpr std::uint64_t sample_node = std::numeric_limits<std::uint64_t>::max();

}  // namespace

const char* spectr_version() {
  return version().data();
}

spectr_sampling spectr_sampling_defaults() {
  const WarpOptions sampling;
  return {.temperature = sampling.temperature,
          .top_p = sampling.top_p,
          .min_p = sampling.min_p,
          .top_k = sampling.top_k};
}

spectr_status spectr_probabilities(const float* logits, size_t vocabulary, const spectr_sampling* sampling,
                                   double* probabilities, spectr_error* error) {
  return guarded(error, [&]() -> Result<void> {
    SPECTR_TRY_VOID(need(logits, "logits"));
    SPECTR_TRY_VOID(need(sampling, "sampling"));
    SPECTR_TRY_VOID(need(probabilities, "probabilities"));
    SPECTR_TRY_VOID(need_vocabulary(vocabulary));
    WarpOptions options;
    options.temperature = sampling->temperature;
    options.top_k = sampling->top_k;
    options.top_p = sampling->top_p;
    options.min_p = sampling->min_p;
    SPECTR_TRY(const Warp warp, Warp::make(std::move(options)));
    SPECTR_TRY(const Distribution found, warp.distribution(std::span(logits, vocabulary), {}, vocabulary));
    write(found, probabilities);
    return {};
  });
}

spectr_status spectr_sample(const double* probabilities, size_t vocabulary, const spectr_stream* stream,
                            int32_t* token, spectr_error* error) {
  return guarded(error, [&]() -> Result<void> {
    SPECTR_TRY_VOID(need(probabilities, "probabilities"));
    SPECTR_TRY_VOID(need(stream, "stream"));
    SPECTR_TRY_VOID(need(token, "token"));
    SPECTR_TRY_VOID(need_vocabulary(vocabulary));
    SPECTR_TRY(const Distribution distribution,
               checked_distribution(std::span(probabilities, vocabulary), "probabilities"));
    CounterRandom random(stream->seed, stream->stream);
    random.enter({.block = stream->block, .node = sample_node, .purpose = Purpose::draft});
    *token = distribution.draw(random);
    return {};
  });
}
