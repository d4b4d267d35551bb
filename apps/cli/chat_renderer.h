#pragma once

#include "apps/bench/generation.h"

namespace spectr::cli {

/// Renders conversations by the chat template of the target's file. Throws Failure where it has none. The
/// model must outlive it.
bench::ChatRenderer chat_renderer(const LoadedModel& target);

}  // namespace spectr::cli
