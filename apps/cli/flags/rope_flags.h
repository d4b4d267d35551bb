#pragma once

#include <CLI/CLI.hpp>

#include "spectr/nn/rope_choice.h"

namespace spectr::cli {

/// Adds llama.cpp's --rope-scaling, --rope-scale, --rope-freq-base, --rope-freq-scale and --yarn-*. They
/// write to the choice, which must live as long as the app.
void add_rope_flags(CLI::App& app, RopeChoice& choice);

}  // namespace spectr::cli
