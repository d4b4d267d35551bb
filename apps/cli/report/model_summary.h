#pragma once

#include <string>

#include "spectr/gguf/gguf.h"

namespace spectr::cli {

/// What somebody with a file wants to know first, in a few lines: whether it can be run, and else why not;
/// the memory of its weights, and of the keys and values of texts; which draft models would fit.
std::string summary_of(const Gguf& file);

}  // namespace spectr::cli
