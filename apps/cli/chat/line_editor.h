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

/// Lines that are edited on a terminal before they are read, by libedit with the keys of Emacs: arrows, Home,
/// End, Delete, Ctrl-A, Ctrl-E, Ctrl-K, Ctrl-W, …. Characters are those of UTF-8, whatever the locale. Up and
/// Down recall lines of the history, Ctrl-R searches it. Ctrl-C gives the line up, and Ctrl-D in an empty one
/// ends the input. Pasted text is inserted, line breaks included; a long one is shown as a short mark such as
/// "[pasted 1: 45 lines, 5254 bytes]", which stands for it. Prompts and lines go to standard error.
class LineEditor : public LineSource {
 public:
  LineEditor(TerminalInput& input, ChatHistory history);
  ~LineEditor() override;
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  std::expected<TypedLine, NoLine> next(bool goes_on) override;
  void remember(const std::string& line) override;

 private:
  // What keys do; each returns how libedit goes on.
  unsigned char paste();
  unsigned char give_up();
  unsigned char recall_older();
  unsigned char recall_newer();
  unsigned char search();

  void bind_keys();
  /// Waits for a character: 1, or 0 at the end of the input.
  int read_character(wchar_t& character);
  void handle(TerminalInput::Event event);
  std::string read_paste();

  std::wstring line() const;
  void replace_line(const std::wstring& text);
  void add_to_recalled(const std::string& line);
  /// The text, or the mark that stands for it.
  std::wstring shown(const std::string& text);
  /// The text with what its marks stand for.
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
  historyW* searched_;      // the recalled lines, for libedit
  std::string unfinished_;  // bytes of a character
  std::string prompt_;
  std::map<std::wstring, std::string> pasted_;  // by their marks
  std::vector<std::wstring> recalled_;          // oldest first
  std::size_t recall_ = 0;                      // which of them is shown; their number: none
  std::wstring draft_;                          // the line that was typed before
  std::wstring pasted_beginning_;               // pasted into the empty line
  bool given_up_ = false;
};

}  // namespace spectr::cli
