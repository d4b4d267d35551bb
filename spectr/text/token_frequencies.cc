#include "spectr/text/token_frequencies.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <string_view>

#include "spectr/base/hash.h"
#include "spectr/base/names.h"
#include "spectr/gguf/mapped_file.h"

namespace spectr {
namespace {

constexpr std::string_view magic = "spectr-token-frequencies 1 ";

/// Returns a hash of the texts of all tokens.
std::uint64_t fingerprint_of(const Vocabulary& vocabulary) {
  Fnv1a hash;
  for (Token token = 0; static_cast<std::size_t>(token) < vocabulary.size(); ++token) {
    for (const char c : vocabulary.text(token)) hash.add(static_cast<unsigned char>(c));
    hash.add(256);
  }
  return hash.value();
}

std::string head_of(std::size_t size, std::uint64_t fingerprint) {
  return fmt::format("{}{} {:016x}", magic, size, fingerprint);
}

/// Parses the whole number before a blank or the end.
std::optional<std::uint64_t> number(std::string_view& line) {
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (failed != std::errc()) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  return value;
}

}  // namespace

TokenFrequencies::TokenFrequencies(const Vocabulary& vocabulary)
    : size_(vocabulary.size()), fingerprint_(fingerprint_of(vocabulary)), counts_(size_) {}

void TokenFrequencies::add(std::span<const Token> tokens) {
  for (const Token token : tokens) ++counts_[static_cast<std::size_t>(token)];
}

std::vector<TokenFrequencies::Count> TokenFrequencies::ranked() const {
  std::vector<Count> ranked;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] > 0) ranked.push_back({static_cast<Token>(i), counts_[i]});
  }
  std::ranges::stable_sort(ranked, std::greater(), &Count::count);
  return ranked;
}

std::string TokenFrequencies::file(std::size_t most) const {
  std::string file = head_of(size_, fingerprint_) + "\n";
  std::vector<Count> ranked = this->ranked();
  ranked.resize(std::min(ranked.size(), most));
  for (const auto& [token, count] : ranked) file += fmt::format("{} {}\n", token, count);
  return file;
}

Result<std::vector<Token>> TokenFrequencies::read(const std::string& path, const Vocabulary& vocabulary) {
  SPECTR_TRY(const auto file, MappedFile::open(path));
  std::string_view rest(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  std::size_t line_number = 0;
  const auto next_line = [&] {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    ++line_number;
    return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
  };

  const std::string_view head = next_line();
  if (!head.starts_with(magic)) {
    return error("{}: is not a file of token frequencies: it does not begin with {}", path, quote(magic));
  }
  if (head != head_of(vocabulary.size(), fingerprint_of(vocabulary))) {
    return error("{}: is of another vocabulary than {}: {}, not {}", path, vocabulary.source(),
                 quote(head.substr(magic.size())),
                 quote(head_of(vocabulary.size(), fingerprint_of(vocabulary)).substr(magic.size())));
  }
  std::vector<Token> tokens;
  std::vector<bool> seen(vocabulary.size());
  while (!rest.empty()) {
    const std::string_view line = next_line();
    std::string_view left = line;
    const auto token = number(left);
    const bool counted = left.starts_with(' ') && (left.remove_prefix(1), number(left)) && left.empty();
    if (!token || !counted) {
      return error("{}: line {} must be a token and how often it occurs, got {}", path, line_number,
                   quote(line));
    }
    if (*token >= vocabulary.size()) {
      return error("{}: line {}: token {} is outside the vocabulary of {}", path, line_number, *token,
                   vocabulary.size());
    }
    if (seen[*token]) return error("{}: line {}: token {} stands there twice", path, line_number, *token);
    seen[*token] = true;
    tokens.push_back(static_cast<Token>(*token));
  }
  return tokens;
}

std::vector<Token> shortlist_of(std::vector<Token> tokens, const Vocabulary& vocabulary) {
  tokens.insert(tokens.end(), vocabulary.ends().begin(), vocabulary.ends().end());
  std::ranges::sort(tokens);
  tokens.erase(std::ranges::unique(tokens).begin(), tokens.end());
  return tokens;
}

}  // namespace spectr
