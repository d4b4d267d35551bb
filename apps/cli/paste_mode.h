#pragma once

#include <string_view>

namespace spectr::cli {

/// While it lives, the terminal puts marks around what is pasted into standard input, if that and standard
/// output are one (bracketed paste, as xterm has it), and does not show them. An interrupt or a request to
/// end that comes meanwhile finds the terminal as it was. One at a time.
class PasteMode {
 public:
  static constexpr std::string_view begin_mark = "\033[200~", end_mark = "\033[201~";

  PasteMode();
  ~PasteMode();
  PasteMode(const PasteMode&) = delete;
  PasteMode& operator=(const PasteMode&) = delete;
};

}  // namespace spectr::cli
