#define PCRE2_CODE_UNIT_WIDTH 8
#include "spectr/engine/rules/grammar_triggers.h"

#include <pcre2.h>

#include <algorithm>
#include <cstdint>

namespace spectr {
namespace {

constexpr std::size_t max_trigger_bytes = 4096;
constexpr std::uint32_t max_steps = 1'000'000;

std::string pattern_error(int code) {
  std::string message(256, '\0');
  pcre2_get_error_message(code, reinterpret_cast<PCRE2_UCHAR*>(message.data()), message.size());
  return message.substr(0, message.find('\0'));
}

}  // namespace

void GrammarTriggers::Free::operator()(pcre2_real_code_8* code) const {
  pcre2_code_free(code);
}

Result<std::shared_ptr<const GrammarTriggers>> GrammarTriggers::make(std::span<const GrammarTrigger> triggers,
                                                                     std::string_view field) {
  std::shared_ptr<GrammarTriggers> made(new GrammarTriggers);
  for (std::size_t i = 0; i < triggers.size(); ++i) {
    const GrammarTrigger& trigger = triggers[i];
    if (trigger.kind == GrammarTrigger::Kind::token) {
      made->tokens_.push_back(trigger.token);
      continue;
    }
    if (trigger.text.empty() || trigger.text.size() > max_trigger_bytes) {
      return error("'{}[{}]' must have 1 to {} bytes, got {}", field, i, max_trigger_bytes,
                   trigger.text.size());
    }
    if (trigger.kind == GrammarTrigger::Kind::word) {
      made->words_.push_back(trigger.text);
      continue;
    }
    const bool is_full = trigger.kind == GrammarTrigger::Kind::pattern_full;
    const std::uint32_t options =
        PCRE2_NEVER_BACKSLASH_C | (is_full ? PCRE2_ANCHORED | PCRE2_ENDANCHORED : 0U);
    int code = 0;
    PCRE2_SIZE at = 0;
    Pattern pattern(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(trigger.text.data()), trigger.text.size(),
                                  options, &code, &at, nullptr));
    if (!pattern) return error("'{}[{}]': {} at byte {}", field, i, pattern_error(code), at);
    made->patterns_.push_back(std::move(pattern));
  }
  return made;
}

std::optional<std::size_t> GrammarTriggers::find(std::string_view text, std::size_t known, Token last) const {
  if (std::ranges::find(tokens_, last) != tokens_.end()) return known;
  std::optional<std::size_t> first;
  const auto take = [&first](std::size_t at) { first = std::min(at, first.value_or(at)); };
  for (const std::string& word : words_) {
    const std::size_t at = text.find(word, known - std::min(known, word.size() - 1));
    if (at != std::string_view::npos) take(at);
  }
  for (const Pattern& pattern : patterns_) {
    if (const auto at = match(pattern, text)) take(*at);
  }
  return first;
}

std::optional<std::size_t> GrammarTriggers::match(const Pattern& pattern, std::string_view text) {
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> data(
      pcre2_match_data_create_from_pattern(pattern.get(), nullptr), pcre2_match_data_free);
  const std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)> context(
      pcre2_match_context_create(nullptr), pcre2_match_context_free);
  if (!data || !context) return std::nullopt;
  pcre2_set_match_limit(context.get(), max_steps);
  const int groups = pcre2_match(pattern.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0,
                                 data.get(), context.get());
  if (groups <= 0) return std::nullopt;
  const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data.get());
  for (int group = 1; group < groups; ++group) {
    const PCRE2_SIZE begin = ends[2 * group], end = ends[2 * group + 1];
    if (begin != PCRE2_UNSET && end > begin) return begin;
  }
  return ends[0];
}

}  // namespace spectr
