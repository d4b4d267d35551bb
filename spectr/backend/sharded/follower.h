#pragma once

#include <functional>

#include "spectr/backend/sharded/communicator.h"
#include "spectr/base/result.h"
#include "spectr/base/thread_pool.h"
#include "spectr/gguf/gguf.h"
#include "spectr/nn/ops.h"

namespace spectr {

/// Serves the leader as a non-leading rank for one model, from loading its part until the model is closed.
/// `open` opens this rank's copy of the file. If it cannot be opened or loaded, or differs from the leader's,
/// the error is reported to the leader. Returns true if the leader may load another model. Errors: those of
/// the communicator, and a malformed message. Throws std::bad_alloc if a pass runs out of memory on this
/// rank.
Result<bool> follow(Communicator& communicator, const Backend& backend,
                    const std::function<Result<Gguf>()>& open, ThreadPool* pool);

}  // namespace spectr
