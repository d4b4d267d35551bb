#pragma once

#include "apps/server/model_set.h"
#include "tests/support/data.h"

namespace spectr::server {

/// The bundled pair, loaded once.
inline const ModelSet& bundled() {
  static const ModelSet models =
      ModelSet::load(find_data("models/spectr-stories-7m-q8_0.gguf").value(),
                     {find_data("models/spectr-stories-draft-0.6m-q8_0.gguf").value()}, 2)
          .value();
  return models;
}

}  // namespace spectr::server
