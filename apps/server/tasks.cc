#include "apps/server/tasks.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "apps/json_input.h"
#include "apps/random_seed.h"
#include "apps/server/api_error.h"
#include "apps/server/chat_prompt.h"
#include "spectr/decode/auto/best_shape.h"

namespace spectr::server {
namespace {

constexpr std::size_t max_texts = 128;
constexpr std::size_t max_biases = 4096;  // every text tells them all

Token read_token(const JsonInput& id, const Vocabulary& vocabulary, std::string_view field) {
  if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= vocabulary.size()) {
    throw ApiError::invalid(
        fmt::format("'{}' must hold token ids below {}, got {}", field, vocabulary.size(), shown(id)));
  }
  return id.get<Token>();
}

/// The tokens of one prompt: a text, or a list of token ids and texts. Only a text at the beginning gets a
/// beginning-of-text token.
std::vector<Token> encode(const JsonInput& prompt, const Tokenizer& tokenizer) {
  if (prompt.is_string())
    return tokenizer.encode(prompt.get_ref<const std::string&>(), {.parse_special = true});
  if (!prompt.is_array()) {
    throw ApiError::invalid(
        fmt::format("'prompt' must be a string, a list of token ids and strings, or a list of these, got {}",
                    shown(prompt)));
  }
  std::vector<Token> tokens;
  for (const JsonInput& part : prompt) {
    if (part.is_string()) {
      const bool is_first = &part == &prompt.front();
      const std::vector<Token> more =
          tokenizer.encode(part.get_ref<const std::string&>(), {.add_bos = is_first, .parse_special = true});
      tokens.insert(tokens.end(), more.begin(), more.end());
    } else if (!part.is_number()) {
      throw ApiError::invalid(
          fmt::format("'prompt' must be a string or a list of token ids and strings, got {}", shown(prompt)));
    } else {
      tokens.push_back(read_token(part, tokenizer.vocabulary(), "prompt"));
    }
  }
  return tokens;
}

/// Whether a list is one prompt, and not a list of prompts.
bool is_one_prompt(const JsonInput& list) {
  return list.empty() || std::ranges::any_of(list, [](const JsonInput& part) { return part.is_number(); });
}

struct Prompts {
  std::vector<std::vector<Token>> all;
  std::optional<ReasoningTask> reasoning = {};  ///< of their answers
};

Prompts read_prompts(const GenerationRequest& request, const ModelSet& models) {
  const Tokenizer& tokenizer = *models.tokenizer;
  if (request.api == Api::chat) {
    const MarkedText text = chat_prompt(request.chat, models.chat_template);
    Prompts one{{encode_chat(text, tokenizer)}};
    if (request.splits_reasoning) one.reasoning = reasoning_task(text, models);
    return one;
  }
  const JsonInput& prompt = request.prompt;
  if (prompt.is_null()) throw ApiError::invalid("'prompt' is missing");
  std::vector<std::vector<Token>> prompts;
  if (!prompt.is_array() || is_one_prompt(prompt)) {
    prompts.push_back(encode(prompt, tokenizer));
  } else {
    if (prompt.size() > max_texts) {
      throw ApiError::invalid(
          fmt::format("'prompt' may be a list of {} prompts, got {}", max_texts, prompt.size()));
    }
    for (const JsonInput& one : prompt) prompts.push_back(encode(one, tokenizer));
  }
  return {std::move(prompts)};
}

double read_bias(const JsonInput& bias) {
  if (bias == false) return -std::numeric_limits<double>::infinity();
  if (!bias.is_number() || !(std::abs(bias.get<double>()) <= 1e6)) {
    throw ApiError::invalid(fmt::format(
        "a bias of 'logit_bias' must be a number between -1e6 and 1e6, or false, got {}", shown(bias)));
  }
  return bias.get<double>();
}

/// The tokens that an entry of logit_bias is for: those of a text, or one by its id, which as the key of an
/// object is a text of digits.
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

/// {"ID or text": bias, …} or [[ID or text, bias], …].
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

const MethodRule* choose_method(const GenerationRequest& request, const ModelSet& models) {
  const MethodRule* method = valid(request.speculative.rule(models.drafts.size(), models.costs != nullptr));
  if (models.drafts.size() < method->models.min) {
    throw ApiError::invalid(fmt::format("method {} needs a draft model, the server has none", method->name));
  }
  if (method->reads(Setting::costs) && !models.costs) {
    throw ApiError::invalid(fmt::format(
        "method {} is not offered: what passes cost is not known, the server measures it where it "
        "has a draft model",
        method->name));
  }
  return method;
}

/// What the fields say each by itself may still be impossible together; a text must not fail half-way.
void check_together(const Warp& warp, const MethodRule& method, const MethodOptions& settings,
                    std::size_t vocabulary) {
  const WarpOptions& options = warp.options();
  std::set<Token> forbidden;
  for (const auto& [token, bias] : options.logit_bias) {
    if (std::isinf(bias)) forbidden.insert(token);
  }
  if (forbidden.size() >= vocabulary) throw ApiError::invalid("'logit_bias' forbids every token");

  valid(check_tuples(method, settings, options, vocabulary));
}

}  // namespace

std::vector<Token> read_tokens(const JsonInput& list, const Vocabulary& vocabulary, std::string_view field) {
  std::vector<Token> tokens;
  for (const JsonInput& id : list) tokens.push_back(read_token(id, vocabulary, field));
  return tokens;
}

Result<void> check_block(const Decoder& decoder, std::size_t left) {
  const std::size_t nodes = decoder.max_nodes(left);
  if (nodes <= max_nodes) return {};
  return error("a block of {} drafted tokens is too large, at most {} are allowed", nodes - 1, max_nodes - 1);
}

ReasoningTask reasoning_task(const MarkedText& prompt, const ModelSet& models) {
  const ReasoningForm& form = reasoning_form(models.template_source);
  return {&form, begun_answer(prompt, form)};
}

Tasks make_tasks(const GenerationRequest& request, const ModelSet& models, const Room& room) {
  const std::size_t context = room.context;
  const auto [prompts, reasoning] = read_prompts(request, models);
  WarpOptions warp = request.warp;
  warp.logit_bias = read_biases(request.logit_bias, *models.tokenizer);
  const auto checked = std::make_shared<const Warp>(valid(Warp::make(std::move(warp))));
  const MethodRule* method = choose_method(request, models);
  MethodRequest speculative = request.speculative;
  if (!speculative.load) {
    const std::size_t texts = std::min(room.slots, room.busy + prompts.size() * request.n);
    speculative.load = request.seed ? 1 : std::max<std::size_t>(texts, 1);
  }
  const MethodOptions settings =
      settings_by_costs(*method, speculative, models.costs, *checked, models.tokenizer->vocabulary().size());
  valid(check_block(valid(make_decoder(*method, settings)), context));
  check_together(*checked, *method, settings, models.tokenizer->vocabulary().size());
  if (prompts.size() * request.n > max_texts) {
    throw ApiError::invalid(fmt::format("prompts × n ('n': {}) must be at most {}, got {}", request.n,
                                        max_texts, prompts.size() * request.n));
  }

  Tasks out{{}, request.seed.value_or(random_seed())};
  for (const std::vector<Token>& prompt : prompts) {
    if (prompt.empty()) throw ApiError::invalid("the prompt has no tokens");
    if (prompt.size() >= context) throw ApiError::exceeds_context(prompt.size(), context);
    for (std::size_t i = 0; i < request.n; ++i) {
      Task task{.prompt = prompt,
                .method = method,
                .settings = settings,
                .warp = checked,
                .limit = std::min(request.limit.value_or(context), context - prompt.size()),
                .ignore_eos = request.ignore_eos,
                .stop_words = request.stop_words,
                .seed = out.seed,
                .sample = out.tasks.size(),
                .details = {},
                .cache_prompt = request.cache_prompt,
                .limited_by_context = request.limit.value_or(context) > context - prompt.size(),
                .reasoning = reasoning,
                .sampled_alternatives = request.sampled_alternatives,
                .progress = request.progress && request.stream,
                .load = *speculative.load};
      if (request.alternatives || request.details) task.details = request.alternatives.value_or(0);
      out.tasks.push_back(std::move(task));
    }
  }
  return out;
}

}  // namespace spectr::server
