#include "apps/server/requests/engine_request.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "apps/server/api_error.h"
#include "apps/server/requests/chat_prompt.h"
#include "apps/server/requests/constraint_request.h"
#include "apps/support/json_input.h"
#include "apps/support/random_seed.h"

namespace spectr::server {
namespace {

constexpr std::size_t max_prompts = 128;
constexpr std::size_t max_biases = 4096;  // every answer lists them

Token read_token(const JsonInput& id, const Vocabulary& vocabulary, std::string_view field) {
  if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= vocabulary.size()) {
    throw ApiError::invalid(
        fmt::format("'{}' must hold token ids below {}, got {}", field, vocabulary.size(), shown(id)));
  }
  return id.get<Token>();
}

/// Returns one prompt for /infill, fitted to the context; for completions with a suffix, one per prompt.
std::vector<std::vector<Token>> infill_prompts(const GenerationRequest& request, const Engine& engine) {
  const Tokenizer& tokenizer = *engine.models().tokenizer;
  InfillRequest infill = *request.infill;
  InfillLayout layout{request.suffix_first};
  const JsonInput& prompt = request.prompt;
  if (request.api == Api::infill) {
    if (!prompt.is_null() && !prompt.is_string())
      throw ApiError::invalid(fmt::format("'prompt' must be a string, got {}", shown(prompt)));
    const std::size_t context = engine.context();
    const std::size_t reserved = std::min(request.limit.value_or(context / 8), context / 2);
    layout.room = context - std::max<std::size_t>(reserved, 1);
    return {infill_prompt(infill, prompt.is_null() ? "" : prompt.get<std::string>(), tokenizer, layout)};
  }
  const JsonInput texts = prompt.is_array() ? prompt : JsonInput::array({prompt});
  std::vector<std::vector<Token>> prompts;
  for (const JsonInput& text : texts) {
    if (!text.is_string()) {
      throw ApiError::invalid(
          fmt::format("'prompt' must be a string or a list of strings beside 'suffix', got {}", shown(text)));
    }
    infill.prefix = text.get<std::string>();
    prompts.push_back(infill_prompt(infill, "", tokenizer, layout));
  }
  return prompts;
}

/// Encodes the prompts. For conversations, also sets how reasoning is split off.
void read_prompts(const GenerationRequest& request, const Engine& engine, Request& asked) {
  const EngineModels& models = engine.models();
  const Tokenizer& tokenizer = *models.tokenizer;
  if (request.is_conversation()) {
    const MarkedText text = chat_prompt(request.chat, models.chat_template);
    asked.prompts = {tokenizer.encode(text, true)};
    const ReasoningSplit split = reasoning_split(text, models);
    asked.reasoning = split;
    asked.reasoning->keeps = {.calls = request.chat.tools.offered(), .thoughts = !request.splits_reasoning};
    if (request.chat.tools.offered()) {
      asked.constraint =
          valid(constraint_with_calls(request.chat.tools, *models.chat_template, split, asked.constraint));
    } else if (asked.constraint) {
      asked.constraint->after = content_mark(*split.form, split.begun);
    }
    // Clients of /v1/messages send a budget for every model.
    const bool is_optional = request.api == Api::messages && split.form->close.empty();
    if (request.reasoning_limit && !is_optional) asked.limited_reasoning = {*request.reasoning_limit, split};
    return;
  }
  const JsonInput& prompt = request.prompt;
  if (prompt.is_array() && prompt.size() > max_prompts && !is_one_prompt(prompt)) {
    throw ApiError::invalid(
        fmt::format("'prompt' may be a list of {} prompts, got {}", max_prompts, prompt.size()));
  }
  if (request.infill) {
    asked.prompts = infill_prompts(request, engine);
    return;
  }
  if (prompt.is_null()) throw ApiError::invalid("'prompt' is missing");
  if (!prompt.is_array() || is_one_prompt(prompt)) {
    asked.prompts = {read_prompt(prompt, tokenizer, "prompt")};
    return;
  }
  for (const JsonInput& one : prompt) asked.prompts.push_back(read_prompt(one, tokenizer, "prompt"));
}

double read_bias(const JsonInput& bias) {
  if (bias == false) return -std::numeric_limits<double>::infinity();
  if (!bias.is_number() || !(std::abs(bias.get<double>()) <= 1e6)) {
    throw ApiError::invalid(fmt::format(
        "a bias of 'logit_bias' must be a number between -1e6 and 1e6, or false, got {}", shown(bias)));
  }
  return bias.get<double>();
}

/// Returns the tokens of an entry of logit_bias: those of a text, or one by id. In an object, keys are
/// texts of digits.
std::vector<Token> biased_tokens(const JsonInput& key, bool is_name, const Tokenizer& tokenizer) {
  constexpr std::string_view field = "logit_bias";
  if (!key.is_string()) return {read_token(key, tokenizer.vocabulary(), field)};
  const std::string& text = key.get_ref<const std::string&>();
  std::uint64_t id = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (is_name && failed != std::errc::invalid_argument && end == text.data() + text.size())
    return {read_token(failed == std::errc{} ? JsonInput(id) : key, tokenizer.vocabulary(), field)};
  std::vector<Token> tokens = tokenizer.encode(text, {.add_bos = false});
  if (tokens.empty()) throw ApiError::invalid(fmt::format("'{}' has no token for {}", field, shown(key)));
  return tokens;
}

/// Reads {"ID or text": bias, …} or [[ID or text, bias], …].
std::vector<std::pair<Token, double>> read_biases(const JsonInput& json, const Tokenizer& tokenizer) {
  std::vector<std::pair<Token, double>> biases;
  const auto add = [&](const JsonInput& key, bool is_name, const JsonInput& bias) {
    const double value = read_bias(bias);
    for (const Token token : biased_tokens(key, is_name, tokenizer)) {
      biases.emplace_back(token, value);
      if (biases.size() <= max_biases) continue;
      throw ApiError::invalid(fmt::format("'logit_bias' may have {} tokens, got more", max_biases));
    }
  };
  if (json.is_structured() && json.size() > max_biases) {
    throw ApiError::invalid(fmt::format("'logit_bias' may have {} entries, got {}", max_biases, json.size()));
  }
  if (json.is_object()) {
    for (const auto& [key, bias] : json.items()) add(JsonInput(key), true, bias);
  } else if (json.is_array()) {
    for (const JsonInput& pair : json) {
      if (!pair.is_array() || pair.size() != 2) {
        throw ApiError::invalid(
            fmt::format("'logit_bias' must hold pairs [id or text, bias], got {}", shown(pair)));
      }
      add(pair[0], false, pair[1]);
    }
  } else if (!json.is_null()) {
    throw ApiError::invalid(
        fmt::format("'logit_bias' must be an object or a list of pairs, got {}", shown(json)));
  }
  return biases;
}

}  // namespace

std::vector<Token> read_prompt(const JsonInput& prompt, const Tokenizer& tokenizer, std::string_view field,
                               bool ends) {
  if (prompt.is_string()) {
    return tokenizer.encode(prompt.get_ref<const std::string&>(), {.parse_special = true, .add_eos = ends});
  }
  if (!prompt.is_array()) {
    throw ApiError::invalid(
        fmt::format("'{}' must be a string, a list of token ids and strings, or a list of these, got {}",
                    field, shown(prompt)));
  }
  std::vector<Token> tokens;
  for (const JsonInput& part : prompt) {
    if (part.is_string()) {
      const bool is_first = &part == &prompt.front(), is_last = &part == &prompt.back();
      const std::vector<Token> more =
          tokenizer.encode(part.get_ref<const std::string&>(),
                           {.add_bos = is_first, .parse_special = true, .add_eos = ends && is_last});
      tokens.insert(tokens.end(), more.begin(), more.end());
    } else if (!part.is_number()) {
      throw ApiError::invalid(fmt::format("'{}' must be a string or a list of token ids and strings, got {}",
                                          field, shown(prompt)));
    } else {
      tokens.push_back(read_token(part, tokenizer.vocabulary(), field));
    }
  }
  return tokens;
}

bool is_one_prompt(const JsonInput& list) {
  return list.empty() || std::ranges::any_of(list, [](const JsonInput& part) { return part.is_number(); });
}

std::vector<Token> read_tokens(const JsonInput& list, const Vocabulary& vocabulary, std::string_view field) {
  std::vector<Token> tokens;
  for (const JsonInput& id : list) tokens.push_back(read_token(id, vocabulary, field));
  return tokens;
}

std::shared_ptr<const PreparedRequest> prepare(const GenerationRequest& request, const Engine& engine) {
  Request asked;
  asked.constraint = request.constraint;
  read_prompts(request, engine, asked);
  asked.n = request.n;
  asked.method = request.speculative;
  asked.sampling = request.warp;
  asked.sampling.logit_bias = read_biases(request.logit_bias, *engine.models().tokenizer);
  asked.limit = request.limit;
  asked.stop_words = request.stop_words;
  asked.ignore_eos = request.ignore_eos;
  asked.seed = request.seed.value_or(random_seed());
  asked.repeatable = request.seed.has_value();
  if (request.alternatives || request.details) asked.details = request.alternatives.value_or(0);
  asked.sampled_alternatives = request.sampled_alternatives;
  asked.score_prompt = request.echo && request.alternatives;
  asked.min_indent = request.min_indent;
  asked.line_time = request.line_time;
  asked.cache_prompt = request.cache_prompt;
  asked.report_progress = request.progress && request.stream;
  const std::size_t completions = asked.prompts.size() * asked.n;
  for (const std::vector<Token>& prompt : asked.prompts) {
    if (prompt.size() >= engine.context()) throw ApiError::exceeds_context(prompt.size(), engine.context());
  }
  auto prepared = valid(engine.prepare(std::move(asked)));
  if (completions > engine.capacity()) {
    throw ApiError::invalid(fmt::format("prompts × n ('n': {}) is {}, slots and queue have room for {}",
                                        request.n, completions, engine.capacity()));
  }
  return prepared;
}

}  // namespace spectr::server
