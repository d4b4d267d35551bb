#pragma once

#include <memory>
#include <string>
#include <vector>

#include "spectr/decode/array_verifier.h"
#include "spectr/engine/engine.h"
#include "spectr/transport/owned_plan.h"

// The handles of the C interface.

struct spectr_plan {
  std::unique_ptr<spectr::OwnedPlan> plan;
};

struct spectr_verifier {
  spectr::ArrayVerifier verifier;
};

struct spectr_engine {
  std::shared_ptr<spectr::Engine> engine;
};

struct spectr_completion {
  std::shared_ptr<spectr::Engine> engine;  // must outlive the completions
  std::shared_ptr<const spectr::PreparedRequest> request;
  std::shared_ptr<spectr::Completion> completion;
  spectr::CompletionEvent event = {};        // event whose text the last spectr_event points to
  std::vector<spectr::Token> tokens = {};    // tokens of that event
  std::string stop_reason = {};              // stop reason of that event
  std::vector<std::string> statistics = {};  // by choice; empty until its last event
};
