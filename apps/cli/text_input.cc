#include "apps/cli/text_input.h"

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>

#include "apps/cli/failure.h"
#include "apps/cli/flag_values.h"
#include "apps/open_file.h"

namespace spectr::cli {

void TextInput::add(CLI::App& app) {
  auto* prompt = app.add_option("-p,--prompt", text, "the text");
  auto* path = app.add_option("-f,--file", file, "file that holds the text")->transform(file_name());
  prompt->excludes(path);
}

void TextInput::add_file(CLI::App& app) {
  app.add_option("-f,--file", file, "file that holds the text")->required()->transform(file_name());
}

std::string TextInput::read() const {
  if (text) return *text;
  if (file) return read_file(*file);
  throw Failure(Status::usage, "no text: give -p TEXT or -f FILE");
}

std::string read_file(const std::string& path) {
  std::ifstream stream = need(open_file(path));
  std::string contents;
  char part[1 << 12];
  while (stream.read(part, sizeof part), stream.gcount() > 0)
    contents.append(part, static_cast<std::size_t>(stream.gcount()));
  if (stream.bad()) throw Failure(Status::usage, fmt::format("{}: cannot be read", path));
  return contents;
}

void check_standard_input() {
  if (std::cin.bad() || std::ferror(stdin) != 0)
    throw Failure(Status::usage, "standard input cannot be read");
}

std::vector<Token> parse_tokens(const std::string& list, std::size_t vocabulary) {
  std::vector<Token> tokens;
  for (const std::int64_t id : parse_list("--tokens", list, 0, std::numeric_limits<Token>::max())) {
    if (static_cast<std::size_t>(id) >= vocabulary) {
      throw Failure(Status::usage,
                    fmt::format("--tokens: {} is outside the vocabulary of {}", id, vocabulary));
    }
    tokens.push_back(static_cast<Token>(id));
  }
  return tokens;
}

}  // namespace spectr::cli
