#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "apps/support/json.h"
#include "spectr/engine/engine_models.h"

namespace spectr::server {

/// Formats a time in UTC as in "2026-01-31T12:00:00.123456Z".
std::string timestamp_of(std::chrono::system_clock::time_point time);

/// Returns the listing of a model that is not loaded: time and size of its file.
Json listing_of(const std::filesystem::path& path);

/// Facts about the target's file, read once because the file may change while it is served.
struct ModelFacts {
  Json listing;   ///< {"modified_at", "size", "digest", "details"} in Ollama's form
  Json metadata;  ///< metadata of the file by key; arrays are null

  static ModelFacts of(const EngineModels& models);
};

}  // namespace spectr::server
