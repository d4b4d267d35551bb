#pragma once

#include <CLI/CLI.hpp>

#include "spectr/nn/rope_choice.h"

namespace spectr::cli {

/// --rope-scaling, --rope-scale, --rope-freq-base, --rope-freq-scale and --yarn-*, as llama.cpp has them:
/// what they say goes to the choice, which must live as long as the app.
void add_rope_flags(CLI::App& app, RopeChoice& choice);

}  // namespace spectr::cli
