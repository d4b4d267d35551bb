#pragma once

#include <chrono>
#include <string>

#include "apps/support/json.h"
#include "spectr/engine/engine_models.h"

namespace spectr::server {

/// A time in UTC, as in "2026-01-31T12:00:00.123456Z".
std::string timestamp_of(std::chrono::system_clock::time_point time);

/// Facts of the target's file. They are read once, because a file may change while it is served.
struct ModelFacts {
  Json listing;   ///< {"modified_at", "size", "digest", "details"}, as Ollama lists models
  Json metadata;  ///< of the file, by its keys; null stands for arrays

  static ModelFacts of(const EngineModels& models);
};

}  // namespace spectr::server
