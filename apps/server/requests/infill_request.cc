#include "apps/server/requests/infill_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "apps/server/api_error.h"
#include "apps/support/json_input.h"

namespace spectr::server {
namespace {

constexpr std::size_t max_extra = 1024;

/// Throws if the vocabulary lacks a token that infilling needs.
void check_tokens(const InfillTokens& marks) {
  std::string missing;
  const auto need = [&missing](const std::optional<Token>& token, std::string_view name) {
    if (!token) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
  };
  need(marks.prefix, "fim_pre_token_id");
  need(marks.suffix, "fim_suf_token_id");
  need(marks.middle, "fim_mid_token_id");
  if (missing.empty()) return;
  throw ApiError::not_supported(
      fmt::format("the model does not fill in: its vocabulary lacks tokenizer.ggml.{}", missing));
}

void append(std::vector<Token>& tokens, std::span<const Token> more) {
  tokens.insert(tokens.end(), more.begin(), more.end());
}

/// Returns the tokens of the parts of other files and the name of the file with the gap.
std::vector<Token> extra_tokens(const InfillRequest& request, const Tokenizer& tokenizer) {
  const InfillTokens& marks = tokenizer.vocabulary().infill();
  std::vector<Token> tokens;
  const auto add = [&](const std::string& text) {
    append(tokens, tokenizer.encode(text, {.add_bos = false}));
  };
  if (marks.repository) {
    tokens.push_back(*marks.repository);
    add("myproject\n");
  }
  for (const InfillRequest::Extra& extra : request.extra) {
    if (marks.file) {
      tokens.push_back(*marks.file);
      add(extra.file + "\n");
    } else {
      add("\n\n--- snippet ---\n\n");
    }
    add(extra.text);
  }
  if (marks.file) {
    tokens.push_back(*marks.file);
    add("filename\n");
  }
  return tokens;
}

}  // namespace

InfillRequest InfillRequest::read(Fields& fields) {
  InfillRequest request;
  for (const auto& [name, member] : {std::pair("input_prefix", &InfillRequest::prefix),
                                     std::pair("input_suffix", &InfillRequest::suffix)}) {
    auto text = fields.string(name);
    if (!text) throw ApiError::invalid(fmt::format("'{}' is missing", name));
    request.*member = *std::move(text);
  }
  const JsonInput* extra = fields.any("input_extra");
  if (extra == nullptr) return request;
  if (!extra->is_array() || extra->size() > max_extra) {
    throw ApiError::invalid(
        fmt::format("'input_extra' must be a list of at most {} objects {{\"filename\", \"text\"}}, got {}",
                    max_extra, shown(*extra)));
  }
  for (std::size_t i = 0; i < extra->size(); ++i) {
    const std::string where = fmt::format("input_extra[{}]", i);
    if (!(*extra)[i].is_object())
      throw ApiError::invalid(fmt::format("'{}' must be an object, got {}", where, shown((*extra)[i])));
    Fields one((*extra)[i], where + ".");
    auto text = one.string("text");
    if (!text) throw ApiError::invalid(fmt::format("'{}.text' is missing", where));
    request.extra.push_back({one.string("filename").value_or("tmp"), *std::move(text)});
    one.any("time");  // llama.vim orders parts by it
    one.ignore_others();
  }
  return request;
}

JsonInput without_infill_sampler(JsonInput body) {
  const auto samplers = body.find("samplers");
  if (samplers == body.end()) return body;
  if (samplers->is_string()) {
    std::erase(samplers->get_ref<std::string&>(), 'i');
  } else if (samplers->is_array()) {
    JsonInput others = JsonInput::array();
    for (const JsonInput& sampler : *samplers)
      if (sampler != "infill") others.push_back(sampler);
    *samplers = std::move(others);
  }
  return body;
}

std::vector<Token> infill_prompt(const InfillRequest& request, const std::string& begun,
                                 const Tokenizer& tokenizer, const InfillLayout& layout) {
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  const InfillTokens& marks = vocabulary.infill();
  check_tokens(marks);
  const auto encode = [&](const std::string& text) { return tokenizer.encode(text, {.add_bos = false}); };
  const std::vector<Token> prefix = encode(request.prefix), suffix = encode(request.suffix),
                           first = encode(begun), extra = extra_tokens(request, tokenizer);

  std::size_t kept_prefix = prefix.size(), kept_suffix = suffix.size(), kept_extra = extra.size();
  if (layout.room) {
    const std::size_t needed = first.size() + (vocabulary.add_bos() ? 4 : 3);
    std::size_t left = *layout.room - std::min(*layout.room, needed);
    kept_suffix = std::min(suffix.size(), std::max(left / 4, left - std::min(left, prefix.size())));
    left -= kept_suffix;
    kept_prefix = std::min(prefix.size(), left);
    left -= kept_prefix;
    kept_extra = std::min(extra.size(), left);
  }

  std::vector<Token> before = {*marks.prefix}, after = {*marks.suffix};
  append(before, std::span(prefix).last(kept_prefix));
  append(before, first);
  append(after, std::span(suffix).first(kept_suffix));
  if (layout.suffix_first) std::swap(before, after);
  std::vector<Token> prompt(extra.end() - static_cast<std::ptrdiff_t>(kept_extra), extra.end());
  if (vocabulary.add_bos()) prompt.push_back(*vocabulary.bos());
  append(prompt, before);
  append(prompt, after);
  prompt.push_back(*marks.middle);
  return prompt;
}

}  // namespace spectr::server
