#include "apps/bench/methods/printed.h"

namespace spectr::bench {
namespace {

/// The values that a paper prints, as numbers and as texts.
struct PrintedJson {
  Json values, texts = Json::object();

  void add(const char* name, const std::optional<PaperValue>& value) {
    values[name] = nullptr;
    if (!value) return;
    values[name] = {{"mean", value->mean.value}, {"sd", value->sd ? Json(value->sd->value) : Json(nullptr)}};
    texts[name] = value->text();
  }

  void add(const char* name, const std::optional<PrintedNumber>& number) {
    values[name] = number ? Json(number->value) : Json(nullptr);
    if (number) texts[name] = number->text();
  }

  Json both() && {
    values["as_printed"] = std::move(texts);
    return std::move(values);
  }
};

}  // namespace

Json to_json(const PrintedPass& printed, std::string_view source) {
  PrintedJson json{{{"source", source}}};
  json.add("relative", printed.relative);
  json.add("joules", printed.joules);
  json.add("joules_per_run", printed.joules_per_run);
  json.add("joules_per_input", printed.joules_per_input);
  json.add("seconds", printed.seconds);
  json.add("seconds_per_run", printed.seconds_per_run);
  json.add("seconds_per_input", printed.seconds_per_input);
  return std::move(json).both();
}

Json to_json(const Printed& printed, std::string_view source) {
  PrintedJson json{{{"source", source}}};
  json.add("tokens_per_second", printed.tokens_per_second);
  json.add("joules_per_token", printed.joules_per_token);
  json.add("perplexity", printed.perplexity);
  json.add("block_efficiency", printed.block_efficiency);
  json.add("speedup", printed.speedup);
  json.add("score", printed.score);
  for (const auto& [category, number] : printed.score_by_category) {
    json.values["score_by_category"][category] = number.value;
    json.texts["score_by_category"][category] = number.text();
  }
  return std::move(json).both();
}

}  // namespace spectr::bench
