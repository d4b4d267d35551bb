#pragma once

#include <string_view>

namespace spectr {

/// The standard streams of a process.
enum class StandardStream { input, output, error };

/// Returns true if a standard stream of this process is a terminal.
bool is_terminal(StandardStream stream);

/// Writes to standard error without a buffer. Ignores failures. Safe to call from signal handlers.
void write_to_stderr(std::string_view text) noexcept;

}  // namespace spectr
