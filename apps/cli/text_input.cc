#include "apps/cli/text_input.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "apps/cli/failure.h"
#include "apps/cli/flag_values.h"

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
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)) {
    throw Failure(Status::usage, fmt::format("{}: is a directory", path));
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw Failure(Status::usage, fmt::format("{}: {}", path, std::strerror(errno)));
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
  std::istringstream entries(list);
  for (std::string entry; std::getline(entries, entry, ',');) {
    const std::size_t begin = entry.find_first_not_of(' '), end = entry.find_last_not_of(' ');
    const std::string digits = begin == std::string::npos ? "" : entry.substr(begin, end - begin + 1);
    Token token = 0;
    const auto [stop, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), token);
    if (failed != std::errc{} || stop != digits.data() + digits.size()) {
      throw Failure(Status::usage, fmt::format("--tokens: '{}' is no token id", entry));
    }
    if (token < 0 || static_cast<std::size_t>(token) >= vocabulary) {
      throw Failure(Status::usage,
                    fmt::format("--tokens: {} is outside the vocabulary of {}", token, vocabulary));
    }
    tokens.push_back(token);
  }
  if (tokens.empty()) throw Failure(Status::usage, "--tokens: the list is empty");
  if (list.ends_with(',')) throw Failure(Status::usage, "--tokens: '' is no token id");
  return tokens;
}

}  // namespace spectr::cli
