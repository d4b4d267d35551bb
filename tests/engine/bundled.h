#pragma once

#include <memory>

#include "spectr/engine/engine.h"
#include "tests/support/data.h"

namespace spectr::test {

/// Returns the bundled pair, which is loaded once.
inline std::shared_ptr<const EngineModels> bundled_models() {
  static const auto models = std::make_shared<const EngineModels>(
      EngineModels::load({.target = find_data("models/spectr-stories-7m-q8_0.gguf").value(),
                          .drafts = {find_data("models/spectr-stories-draft-0.6m-q8_0.gguf").value()},
                          .threads = 2})
          .value());
  return models;
}

}  // namespace spectr::test
