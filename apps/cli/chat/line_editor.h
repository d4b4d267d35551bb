#pragma once

#include <clocale>
#include <cstddef>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/chat/chat_history.h"
#include "apps/cli/chat/chat_lines.h"
#include "apps/cli/chat/terminal_input.h"

struct editline;
struct historyW;

namespace spectr::cli {

/// Edits lines on a terminal with libedit and Emacs keys: arrows, Home, End, Delete, Ctrl-A, Ctrl-E,
/// Ctrl-K, Ctrl-W, …. Input is UTF-8 in every locale. Up and Down recall lines of the history; Ctrl-R
/// searches it. Ctrl-C cancels the line, and Ctrl-D in an empty line ends the input. Pastes may have
/// several lines; a long one is displayed as a mark, "[pasted 1: 45 lines, 5254 bytes]". Output goes to
/// standard error.
class LineEditor : public LineSource {
 public:
  LineEditor(TerminalInput& input, ChatHistory history);
  ~LineEditor() override;
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  std::expected<TypedLine, NoLine> next(bool goes_on) override;
  void remember(const std::string& line) override;

 private:
  // Actions of keys. Each returns libedit's code for how to continue.
  unsigned char paste();
  unsigned char give_up();
  unsigned char recall_older();
  unsigned char recall_newer();
  unsigned char search();

  void bind_keys();
  /// Waits for a character. Returns 1, or 0 at the end of the input.
  int read_character(wchar_t& character);
  void handle(TerminalInput::Event event);
  std::string read_paste();

  std::wstring line() const;
  void replace_line(const std::wstring& text);
  void add_to_recalled(const std::string& line);
  /// Returns the text, or the mark that represents it.
  std::wstring shown(const std::string& text);
  /// Returns the text with marks replaced by what they represent.
  std::string expanded(std::wstring_view shown) const;
  void put(std::string_view text) const;

  template <unsigned char (LineEditor::*action)()>
  static unsigned char on_key(editline* editor, unsigned key);
  static int on_read(editline* editor, wchar_t* character);
  static char* on_prompt(editline* editor);

  TerminalInput& input_;
  ChatHistory history_;
  bool has_colours_;
  locale_t utf8_;
  std::FILE *out_, *ignored_;
  editline* editor_;
  historyW* searched_;      // libedit's copy of recalled_
  std::string unfinished_;  // bytes of an incomplete character
  std::string prompt_;
  std::map<std::wstring, std::string> pasted_;  // by mark
  std::vector<std::wstring> recalled_;          // oldest first
  std::size_t recall_ = 0;                      // index of the displayed line; size of recalled_: none
  std::wstring draft_;                          // line that was being typed before recall
  std::wstring pasted_prefix_;                  // text pasted into the empty line
  bool given_up_ = false;
};

}  // namespace spectr::cli
