#include "apps/cli/flags/text_input.h"

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>
#include <string_view>

#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/support/open_file.h"

namespace spectr::cli {
std::string read_escapes(std::string_view text) {
  constexpr std::string_view names = "nrt\"'\\", characters = "\n\r\t\"'\\";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = text[i] == '\\' && i + 1 < text.size() ? text[i + 1] : '\0';
    if (const std::size_t which = next == '\0' ? std::string_view::npos : names.find(next);
        which != std::string_view::npos) {
      out += characters[which];
      i += 1;
      continue;
    }
    unsigned byte = 0;
    const char* const digits = text.data() + i + 2;
    if (next == 'x' && i + 4 <= text.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      out += static_cast<char>(byte);
      i += 3;
      continue;
    }
    out += text[i];
  }
  return out;
}

void TextInput::add(CLI::App& app, const std::string& meaning) {
  auto* prompt = app.add_option("-p,--prompt", text, meaning);
  auto* path =
      app.add_option("-f,--file", file, "file that holds it; -: standard input")->transform(file_name());
  prompt->excludes(path);
  app.add_flag("-e,--escape", escapes,
               R"(read \n, \r, \t, \", \', \\ and \xHH in -p as what they stand for)");
}

void TextInput::add_file(CLI::App& app) {
  app.add_option("-f,--file", file, "file that holds the text")->required()->transform(file_name());
}

std::string TextInput::read() const {
  if (text) return escapes ? read_escapes(*text) : *text;
  if (file) return read_file(*file == "-" ? "/dev/stdin" : *file);
  throw Failure(Status::usage, "no text: give -p TEXT or -f FILE");
}

std::string TextInput::read_prompt() const {
  std::string prompt = read();
  if (file && prompt.ends_with('\n')) {  // removes LF or CRLF
    prompt.pop_back();
    if (prompt.ends_with('\r')) prompt.pop_back();
  }
  return prompt;
}

std::string read_file(const std::string& path) {
  std::ifstream stream = need(open_file(path));
  std::string contents;
  char part[1 << 12];
  while (stream.read(part, sizeof part), stream.gcount() > 0)
    contents.append(part, static_cast<std::size_t>(stream.gcount()));
  if (stream.bad()) throw Failure(Status::usage, fmt::format("{}: cannot be read", path));
  if (constexpr std::string_view bom = "\xEF\xBB\xBF"; contents.starts_with(bom))
    contents.erase(0, bom.size());
  return contents;
}

void check_standard_input() {
  if (std::cin.bad() || std::ferror(stdin) != 0)
    throw Failure(Status::usage, "standard input cannot be read");
}

std::vector<Token> parse_tokens(const std::string& list, std::size_t vocabulary, const std::string& flag) {
  std::vector<Token> tokens;
  for (const std::int64_t id : parse_list(flag, list, 0, std::numeric_limits<Token>::max())) {
    if (static_cast<std::size_t>(id) >= vocabulary) {
      throw Failure(Status::usage,
                    fmt::format("{}: {} is outside the vocabulary of {}", flag, id, vocabulary));
    }
    tokens.push_back(static_cast<Token>(id));
  }
  return tokens;
}

}  // namespace spectr::cli
