#pragma once

#include "spectr/base/logits.h"
#include "spectr/base/token.h"

namespace spectr {

/// −log softmax(logits)[token], in nats: under the model's own law, temperature 1 and no filter.
double negative_log_likelihood(const Logits& logits, Token token);

}  // namespace spectr
