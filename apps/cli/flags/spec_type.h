#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "apps/cli/flags/method_flags.h"
#include "apps/cli/flags/model_flags.h"

namespace spectr::cli {

/// Adds llama.cpp's --spec-type.
void add_spec_type(CLI::App& app, std::vector<std::string>& types);

/// Applies --spec-type: it chooses a method, or checks the kinds of the drafts of -md. If there are no
/// drafts, those that a type asks for are looked for in the target's file and next to it. Without
/// --spec-type, such a drafter is used where method auto decides, if `may_draft` is true. Prints on standard
/// error what was found. Requires: the target has been chosen. Throws Failure.
void choose_speculation(ModelFlags& model, MethodFlags& method, bool may_draft = true);

}  // namespace spectr::cli
