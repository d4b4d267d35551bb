#include "apps/server/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "apps/http/handler.h"
#include "spectr/base/numeric.h"
#include "spectr/base/version.h"

namespace spectr::server {
namespace {

constexpr std::string_view own = "spectr_", llama = "llamacpp:", vllm = "vllm:";

/// Formats metrics in Prometheus' text format.
class Text {
 public:
  void counter(std::string_view name, std::string_view help, double value, std::string_view prefix = own) {
    add(prefix, name, "counter", help, value);
  }
  void gauge(std::string_view name, std::string_view help, double value) {
    add(own, name, "gauge", help, value);
  }
  /// Adds a counter under spectr's and llama.cpp's names.
  void shared_counter(std::string_view name, std::string_view help, double value) {
    for (const std::string_view prefix : {own, llama}) add(prefix, name, "counter", help, value);
  }
  void shared_gauge(std::string_view name, std::string_view help, double value) {
    for (const std::string_view prefix : {own, llama}) add(prefix, name, "gauge", help, value);
  }

  void head(std::string_view prefix, std::string_view name, std::string_view type, std::string_view help) {
    fmt::format_to(std::back_inserter(text_), "# HELP {0}{1} {2}\n# TYPE {0}{1} {3}\n", prefix, name, help,
                   type);
  }
  void value(std::string_view prefix, std::string_view name, std::string_view labels, double number) {
    fmt::format_to(std::back_inserter(text_), "{}{}{{{}}} {}\n", prefix, name, labels, number);
  }

  template <std::size_t ranges>
  void histogram(std::string_view name, std::string_view help, const Histogram<ranges>& histogram,
                 std::string_view prefix = own) {
    head(prefix, name, "histogram", help);
    const std::string bucket = fmt::format("{}_bucket", name);
    for (std::size_t i = 0; i < ranges; ++i)
      value(prefix, bucket, fmt::format("le=\"{}\"", histogram.bounds()[i]),
            static_cast<double>(histogram.up_to(i)));
    value(prefix, bucket, "le=\"+Inf\"", static_cast<double>(histogram.all()));
    fmt::format_to(std::back_inserter(text_), "{0}{1}_sum {2}\n{0}{1}_count {3}\n", prefix, name,
                   histogram.sum(), histogram.all());
  }
  /// Adds a histogram under spectr's and vLLM's names.
  template <std::size_t ranges>
  void shared_histogram(std::string_view name, std::string_view help, const Histogram<ranges>& numbers) {
    for (const std::string_view prefix : {own, vllm}) histogram(name, help, numbers, prefix);
  }
  void vllm_gauge(std::string_view name, std::string_view help, double value) {
    for (const std::string_view prefix : {own, vllm}) add(prefix, name, "gauge", help, value);
  }

  std::string take() { return std::move(text_); }

 private:
  void add(std::string_view prefix, std::string_view name, std::string_view type, std::string_view help,
           double number) {
    head(prefix, name, type, help);
    fmt::format_to(std::back_inserter(text_), "{}{} {}\n", prefix, name, number);
  }

  std::string text_;
};

double as_double(std::uint64_t n) {
  return static_cast<double>(n);
}

void add_build(Text& out) {
  out.head(own, "build_info", "gauge", "The build of the program, as labels; always 1.");
  out.value(own, "build_info",
            fmt::format("version=\"{}\",commit=\"{}\",build=\"{:016x}\",compiler=\"{}\"", version(), commit(),
                        build_identity(), __VERSION__),
            1.0);
}

void add_answers(Text& out, std::map<int, std::uint64_t> answers) {
  std::map<int, std::uint64_t> classes = {{2, 0}, {4, 0}, {5, 0}};
  for (const auto& [status, count] : answers) {
    if (status != http::Exchange::client_left) classes[status / 100] += count;
  }
  out.head(own, "http_responses_total", "counter", "Responses by class of status, as their heads have it.");
  for (const auto& [first, count] : classes)
    out.value(own, "http_responses_total", fmt::format("class=\"{}xx\"", first), as_double(count));
  answers.try_emplace(429, 0);
  out.head(own, "http_responses_by_status_total", "counter",
           "Responses by status; 499: the client left before the response began.");
  for (const auto& [status, count] : answers)
    out.value(own, "http_responses_by_status_total", fmt::format("status=\"{}\"", status), as_double(count));
}

void add_speculation(Text& out, const EngineCounts& c) {
  for (const std::string_view prefix : {own, llama, vllm}) {
    out.counter("spec_decode_num_drafts_total", "Blocks that drafted.", as_double(c.drafts), prefix);
    out.counter("spec_decode_num_draft_tokens_total", "Draft tokens drawn.", as_double(c.drafted), prefix);
    out.counter("spec_decode_num_accepted_tokens_total", "Draft tokens accepted.", as_double(c.accepted),
                prefix);
    constexpr std::string_view name = "spec_decode_num_accepted_tokens_per_pos_total";
    out.head(prefix, name, "counter", "Draft tokens accepted, by position in the block.");
    for (std::size_t i = 0; i < c.accepted_at.size(); ++i)
      out.value(prefix, name, fmt::format("position=\"{}\"", i), as_double(c.accepted_at[i]));
  }
}

void add_slots(Text& out, const SlotPool& slots) {
  const std::vector<PassCounts> passes = slots.passes();
  const std::vector<SlotState> states = slots.states();
  const PassCounts& target = passes.back();
  out.shared_counter("n_decode_total", "Passes of the target.", as_double(target.passes));
  out.counter("decode_rows_total", "Rows of these passes.", as_double(target.rows));
  out.shared_histogram("iteration_tokens_total", "Passes of the target, by their rows.", target.by_rows);
  out.histogram("iteration_drafted_share",
                "Passes of the target, by the share of draft tokens in their rows.", target.by_drafted);
  out.shared_gauge("n_busy_slots_per_decode", "Sequences per pass of the target, on average.",
                   ratio(as_double(target.sequences), as_double(target.passes)));
  out.shared_gauge("requests_processing", "Completions being generated.",
                   as_double(static_cast<std::uint64_t>(
                       std::ranges::count_if(states, [](const SlotState& state) { return state.busy; }))));
  out.shared_gauge("requests_deferred", "Completions that wait for a slot.", as_double(slots.queued()));
  out.vllm_gauge("kv_cache_usage_perc", "Tokens that slots hold, as a share of those that they could hold.",
                 ratio(as_double(target.held), as_double(target.room)));
  out.gauge("prefix_cache_bytes", "Bytes of sequences that no slot holds any more.",
            as_double(slots.prefixes().bytes()));
  out.gauge("slots", "Completions that can be decoded concurrently.", as_double(states.size()));
}

}  // namespace

std::string metrics_of(const SlotPool& slots, const std::map<int, std::uint64_t>& answers) {
  const EngineCounts c = slots.counts();
  Text out;
  add_build(out);
  out.shared_counter("prompt_tokens_total", "Prompt tokens computed.", as_double(c.prompt_tokens));
  out.shared_counter("prompt_tokens_cached_total", "Prompt tokens taken from a cache.",
                     as_double(c.cached_tokens));
  out.shared_counter("prompt_seconds_total", "Seconds spent on prompts.", c.prompt_seconds);
  out.shared_gauge("prompt_tokens_seconds", "Prompt tokens per second, on average.",
                   ratio(as_double(c.prompt_tokens), c.prompt_seconds));
  out.shared_counter("tokens_predicted_total", "Tokens generated.", as_double(c.generated));
  out.shared_counter("tokens_predicted_seconds_total", "Seconds spent on generation, summed over slots.",
                     c.generation_seconds);
  out.shared_gauge("predicted_tokens_seconds", "Tokens per second of a slot, on average.",
                   ratio(as_double(c.generated), c.generation_seconds));
  out.shared_counter("n_tokens_max", "Tokens of the longest sequence, prompt and completion.",
                     as_double(c.longest));
  out.shared_histogram("request_queue_time_seconds", "Seconds until a slot took a completion up.", c.queued);
  out.shared_histogram("time_to_first_token_seconds",
                       "Seconds from a request to its completion's first tokens.", c.first_token);
  out.shared_histogram("inter_token_latency_seconds",
                       "Seconds between a completion's blocks of tokens, which come together.", c.gap);
  add_speculation(out, c);
  add_slots(out, slots);
  out.head(own, "texts_total", "counter", "Completions that ended, by how.");
  out.value(own, "texts_total", "ending=\"finished\"", as_double(c.finished));
  out.value(own, "texts_total", "ending=\"given_up\"", as_double(c.cancelled));
  out.value(own, "texts_total", "ending=\"failed\"", as_double(c.failed));
  add_answers(out, answers);
  return out.take();
}

}  // namespace spectr::server
