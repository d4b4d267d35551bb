#pragma once

#include "apps/bench/generation.h"

namespace spectr::cli {

/// Renders conversations by the chat template of the target's file. Throws Failure if it has none. The models
/// must outlive the renderer.
bench::ChatRenderer chat_renderer(const EngineModels& models);

}  // namespace spectr::cli
