#pragma once

#include "spectr/base/result.h"
#include "spectr/nn/model_spec.h"
#include "spectr/nn/ops.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {

/// Runs a model's forward pass on any backend: walks through the layers once and calls their operations in
/// order. Returns the logits of the batch's wanted rows. Requires: see Ops::begin(). Error: a device failure.
/// Throws std::bad_alloc if there is no memory for the pass; the batch's moves are done even then.
Result<HeldLogits> run_pass(const ModelSpec& spec, const PassBatch& batch, Ops& ops);

/// Computes the keys and values of a drafter's context from the batch's features, one row per token of the
/// target. Returns the fused states as features of the rows. Requires and fails as run_pass(); also requires
/// a spec with a fusion, a tap and attention in all layers.
Result<HeldLogits> run_context_pass(const ModelSpec& spec, const PassBatch& batch, Ops& ops);

}  // namespace spectr
