#include "apps/cli/chat/line_editor.h"

#include <fmt/format.h>
#include <histedit.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "apps/cli/report/terminal_style.h"
#include "spectr/base/utf8.h"

namespace spectr::cli {
namespace {

// Longer pasted text is displayed as a mark.
constexpr std::size_t max_shown_bytes = 500;
constexpr std::ptrdiff_t max_shown_breaks = 8;

std::wstring wide(std::string_view text) {
  std::wstring all;
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    all += static_cast<wchar_t>(code_point_of(character).value_or(0xFFFD));
    text.remove_prefix(character.size());
  }
  return all;
}

void append(std::string& text, wchar_t character) {
  append_utf8(static_cast<std::uint32_t>(character), text);
}

/// Normalizes line breaks of pasted text to \n and removes NUL bytes.
std::string cleaned(std::string_view pasted) {
  std::string text;
  for (std::size_t i = 0; i < pasted.size(); ++i) {
    if (pasted[i] == '\r') {
      text += '\n';
      if (pasted.substr(i + 1).starts_with('\n')) ++i;
    } else if (pasted[i] != '\0') {
      text += pasted[i];
    }
  }
  return text;
}

/// Sets the locale of the thread for its lifetime: libedit uses it to determine character widths.
class LocaleOfThread {
 public:
  explicit LocaleOfThread(locale_t locale) : before_(uselocale(locale)) {}
  ~LocaleOfThread() { uselocale(before_); }
  LocaleOfThread(const LocaleOfThread&) = delete;
  LocaleOfThread& operator=(const LocaleOfThread&) = delete;

 private:
  locale_t before_;
};

/// Returns another stream to standard error. Throws std::system_error if the process has too many files.
std::FILE* copy_of_stderr() {
  const int copy = dup(STDERR_FILENO);
  std::FILE* const stream = copy < 0 ? nullptr : fdopen(copy, "w");
  if (stream == nullptr) throw std::system_error(errno, std::generic_category(), "standard error");
  return stream;
}

}  // namespace

template <unsigned char (LineEditor::*action)()>
unsigned char LineEditor::on_key(editline* editor, unsigned) {
  LineEditor* self = nullptr;
  el_get(editor, EL_CLIENTDATA, &self);
  return (self->*action)();
}

int LineEditor::on_read(editline* editor, wchar_t* character) {
  LineEditor* self = nullptr;
  el_get(editor, EL_CLIENTDATA, &self);
  return self->read_character(*character);
}

char* LineEditor::on_prompt(editline* editor) {
  LineEditor* self = nullptr;
  el_get(editor, EL_CLIENTDATA, &self);
  return self->prompt_.data();
}

LineEditor::LineEditor(TerminalInput& input, ChatHistory history)
    : input_(input),
      history_(std::move(history)),
      has_colours_(has_colours(StandardStream::error)),
      utf8_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)),
      out_(copy_of_stderr()),
      ignored_(fopen("/dev/null", "w")),
      searched_(history_winit()) {
  const LocaleOfThread locale(utf8_);
  editor_ = el_init_fd("spectr", stdin, out_, ignored_, STDIN_FILENO, STDERR_FILENO, STDERR_FILENO);
  // Terminals without a description are treated as xterm.
  if (const char* type = std::getenv("TERM"); el_set(editor_, EL_TERMINAL, type) != 0)
    el_set(editor_, EL_TERMINAL, "xterm");
  el_set(editor_, EL_CLIENTDATA, this);
  el_set(editor_, EL_EDITOR, "emacs");
  el_set(editor_, EL_PROMPT, on_prompt);
  el_set(editor_, EL_GETCFN, on_read);
  // Ctrl-C is an editing key, line breaks are not translated, and the mode does not change between lines.
  el_set(editor_, EL_SETTY, "-d", "intr=", nullptr);
  el_set(editor_, EL_SETTY, "-d", "-icrnl", "-inlcr", nullptr);
  el_set(editor_, EL_SETTY, "-x", "-icanon", "-echo", "-icrnl", nullptr);
  HistEventW event;
  history_w(searched_, &event, H_SETSIZE, static_cast<int>(ChatHistory::max_lines));
  el_wset(editor_, EL_HIST, history_w, searched_);
  bind_keys();
  input_.outlive_interrupts();
  for (const std::string& line : history_.lines()) add_to_recalled(line);
}

LineEditor::~LineEditor() {
  el_end(editor_);
  history_wend(searched_);
  std::fclose(out_);
  std::fclose(ignored_);
  freelocale(utf8_);
}

void LineEditor::bind_keys() {
  // Uses wide names because el_set would leak copies of narrow ones.
  const auto add = [this](const wchar_t* name, auto action, std::initializer_list<const wchar_t*> keys) {
    el_wset(editor_, EL_ADDFN, name, L"", action);
    for (const wchar_t* key : keys) el_wset(editor_, EL_BIND, key, name, nullptr);
  };
  add(L"chat-paste", on_key<&LineEditor::paste>, {L"\\e[200~"});
  add(L"chat-give-up", on_key<&LineEditor::give_up>, {L"^C"});
  add(L"chat-older", on_key<&LineEditor::recall_older>, {L"^P", L"\\e[A", L"\\eOA"});
  add(L"chat-newer", on_key<&LineEditor::recall_newer>, {L"^N", L"\\e[B", L"\\eOB"});
  add(L"chat-search", on_key<&LineEditor::search>, {L"^R"});
  // libedit's own search, which only chat-search calls.
  el_wset(editor_, EL_BIND, L"\\e^R", L"em-inc-search-prev", nullptr);
  for (const wchar_t* key : {L"\\ep", L"\\eP", L"\\en", L"\\eN"})
    el_wset(editor_, EL_BIND, L"-r", key, nullptr);
  const std::pair<const wchar_t*, const wchar_t*> others[] = {
      {L"\\e[1~", L"ed-move-to-beg"}, {L"\\e[7~", L"ed-move-to-beg"}, {L"\\e[H", L"ed-move-to-beg"},
      {L"\\eOH", L"ed-move-to-beg"},  {L"\\e[4~", L"ed-move-to-end"}, {L"\\e[8~", L"ed-move-to-end"},
      {L"\\e[F", L"ed-move-to-end"},  {L"\\eOF", L"ed-move-to-end"},  {L"\\e[3~", L"ed-delete-next-char"},
      {L"\\e[1;5C", L"em-next-word"}, {L"\\e[1;5D", L"ed-prev-word"}, {L"^W", L"ed-delete-prev-word"}};
  for (const auto& [key, action] : others) el_wset(editor_, EL_BIND, key, action, nullptr);
}

std::expected<TypedLine, NoLine> LineEditor::next(bool goes_on) {
  const LocaleOfThread locale(utf8_);
  prompt_ = goes_on ? ". " : "> ";
  recall_ = recalled_.size();
  draft_.clear();
  pasted_prefix_.clear();
  given_up_ = false;
  const Styled users(style::user, has_colours_), hint(style::dim, has_colours_);
  put(fmt::format("{}{}", goes_on ? "" : "\n", users.begin));
  int length = 0;
  const wchar_t* typed = nullptr;
  {
    const TerminalInput::PasteMarks marks;
    typed = el_wgets(editor_, &length);
  }
  put(users.end);
  if (typed == nullptr || length <= 0) {
    put("\n");
    return std::unexpected(NoLine::ended);
  }
  if (given_up_) {
    put(fmt::format("{}Ctrl-D or /quit ends the conversation{}\n", hint.begin, hint.end));
    return std::unexpected(NoLine::given_up);
  }
  std::wstring_view line(typed, static_cast<std::size_t>(length));
  if (line.ends_with(L'\n')) line.remove_suffix(1);
  TypedLine result{expanded(line)};
  result.is_pasted =
      result.text.contains('\n') || (!pasted_prefix_.empty() && line.starts_with(pasted_prefix_));
  return result;
}

void LineEditor::remember(const std::string& line) {
  if (!history_.add(line)) return;
  const LocaleOfThread locale(utf8_);
  add_to_recalled(line);
}

void LineEditor::add_to_recalled(const std::string& line) {
  recalled_.push_back(shown(line));
  HistEventW event;
  history_w(searched_, &event, H_ENTER, recalled_.back().c_str());
}

int LineEditor::read_character(wchar_t& character) {
  for (;;) {
    if (utf8_unfinished(unfinished_) != unfinished_.size()) {
      const std::string first(first_character(unfinished_));
      character = wide(first).front();
      unfinished_.erase(0, first.size());
      return 1;
    }
    const auto byte = input_.read();
    if (byte) {
      unfinished_ += static_cast<char>(*byte);
    } else if (byte.error() == TerminalInput::Event::ended) {
      return 0;
    } else {
      handle(byte.error());
    }
  }
}

void LineEditor::handle(TerminalInput::Event event) {
  if (event == TerminalInput::Event::resized) {
    el_resize(editor_);
    if (reads_escapes(StandardStream::error)) put("\r\033[J");
  }
  put(Styled(style::user, has_colours_).begin);
  el_set(editor_, EL_REFRESH);
}

std::string LineEditor::read_paste() {
  constexpr std::uint8_t ctrl_c = 3;  // ends a paste without an end mark
  std::string text = std::exchange(unfinished_, {});
  while (!text.ends_with(paste_end)) {
    const auto byte = input_.read();
    if (!byte && byte.error() != TerminalInput::Event::ended) continue;
    if (!byte || *byte == ctrl_c) return text;
    text += static_cast<char>(*byte);
  }
  text.resize(text.size() - paste_end.size());
  return text;
}

unsigned char LineEditor::paste() {
  const std::wstring text = shown(cleaned(read_paste()));
  if (line().empty()) pasted_prefix_ = text;
  el_winsertstr(editor_, text.c_str());
  return CC_REFRESH;
}

unsigned char LineEditor::give_up() {
  given_up_ = true;
  const LineInfoW* const line = el_wline(editor_);
  el_cursor(editor_, static_cast<int>(line->lastchar - line->cursor));
  el_winsertstr(editor_, L"^C");
  el_wpush(editor_, L"\n");
  return CC_REFRESH;
}

unsigned char LineEditor::recall_older() {
  if (recall_ == 0) return CC_ERROR;
  if (recall_ == recalled_.size()) draft_ = line();
  replace_line(recalled_[--recall_]);
  return CC_REFRESH;
}

unsigned char LineEditor::recall_newer() {
  if (recall_ == recalled_.size()) return CC_ERROR;
  ++recall_;
  replace_line(recall_ == recalled_.size() ? draft_ : recalled_[recall_]);
  return CC_REFRESH;
}

// Search starts from an empty line only: libedit's search loses a line that is longer than its buffer.
unsigned char LineEditor::search() {
  if (!line().empty()) return CC_ERROR;
  el_wpush(editor_, L"\033\022");
  return CC_NORM;
}

std::wstring LineEditor::line() const {
  const LineInfoW* const line = el_wline(editor_);
  return {line->buffer, line->lastchar};
}

void LineEditor::replace_line(const std::wstring& text) {
  const LineInfoW* const line = el_wline(editor_);
  el_cursor(editor_, static_cast<int>(line->lastchar - line->cursor));
  el_wdeletestr(editor_, static_cast<int>(line->lastchar - line->buffer));
  el_winsertstr(editor_, text.c_str());
}

std::wstring LineEditor::shown(const std::string& text) {
  const auto breaks = std::ranges::count(text, '\n');
  if (text.size() <= max_shown_bytes && breaks <= max_shown_breaks) return wide(text);
  const auto known = std::ranges::find(pasted_, text, [](const auto& entry) { return entry.second; });
  if (known != pasted_.end()) return known->first;
  const std::string lines = breaks > 0 ? fmt::format("{} lines, ", breaks + 1) : "";
  const std::string mark = fmt::format("[pasted {}: {}{} bytes]", pasted_.size() + 1, lines, text.size());
  return pasted_.emplace(wide(mark), text).first->first;
}

std::string LineEditor::expanded(std::wstring_view shown) const {
  std::string text;
  while (!shown.empty()) {
    const auto mark =
        std::ranges::find_if(pasted_, [&](const auto& entry) { return shown.starts_with(entry.first); });
    if (mark != pasted_.end()) {
      text += mark->second;
      shown.remove_prefix(mark->first.size());
    } else {
      append(text, shown.front());
      shown.remove_prefix(1);
    }
  }
  return text;
}

void LineEditor::put(std::string_view text) const {
  std::fwrite(text.data(), 1, text.size(), out_);
  std::fflush(out_);
}

}  // namespace spectr::cli
