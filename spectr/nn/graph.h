#pragma once

#include "spectr/base/result.h"
#include "spectr/nn/model_spec.h"
#include "spectr/nn/ops.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {

/// The forward pass of any model on any backend: walks the model's layers once and calls their operations in
/// order. Returns the logits of the batch's wanted rows. Requires: what Ops::begin says. Error: of the
/// device. Throws std::bad_alloc where memory is missing for the pass; the batch's moves are done then, too.
Result<HeldLogits> run_pass(const ModelSpec& spec, const PassBatch& batch, Ops& ops);

/// Computes the keys and values of a drafter's context, a row for each token of the target, from the batch's
/// features. Returns the fused states as features of the rows. Requires and fails as run_pass() does; also
/// requires a spec with a fusion, a tap and attention in all layers.
Result<HeldLogits> run_context_pass(const ModelSpec& spec, const PassBatch& batch, Ops& ops);

}  // namespace spectr
