#pragma once

namespace spectr::cli {

/// From now on the program ends with one line that names the file, and the status of bad input, where a
/// mapped file has become shorter than what is read of it: a copy that is started anew, a disk that goes.
void tell_shortened_files();

}  // namespace spectr::cli
