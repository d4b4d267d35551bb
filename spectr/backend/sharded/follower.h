#pragma once

#include <functional>

#include "spectr/backend/sharded/communicator.h"
#include "spectr/base/result.h"
#include "spectr/base/thread_pool.h"
#include "spectr/gguf/gguf.h"
#include "spectr/nn/ops.h"

namespace spectr {

/// Does what the leader says for one model, from loading a part of it to its end: what a rank is for that
/// does not lead. `open` opens this rank's copy of the file; a file that cannot be opened, is another than
/// the leader's or cannot be loaded is the leader's error. Returns whether the leader may load another one.
/// Error: of the communicator, or an order that makes no sense. Throws std::bad_alloc where a pass has no
/// memory here.
Result<bool> follow(Communicator& communicator, const Backend& backend,
                    const std::function<Result<Gguf>()>& open, ThreadPool* pool);

}  // namespace spectr
