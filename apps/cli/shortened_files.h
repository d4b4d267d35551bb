#pragma once

namespace spectr::cli {

/// Installs a handler that ends the program with an error naming the file, and the status of bad input, if a
/// mapped file shrinks while it is read (e.g. it is overwritten, or its disk is removed).
void tell_shortened_files();

}  // namespace spectr::cli
