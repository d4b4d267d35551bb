#include "apps/server/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "spectr/base/numeric.h"

namespace spectr::server {
namespace {

class Text {
 public:
  void counter(std::string_view name, std::string_view help, double value) {
    add(name, "counter", help, value);
  }
  void gauge(std::string_view name, std::string_view help, double value) { add(name, "gauge", help, value); }

  void head(std::string_view name, std::string_view type, std::string_view help) {
    fmt::format_to(std::back_inserter(text), "# HELP spectr_{0} {1}\n# TYPE spectr_{0} {2}\n", name, help,
                   type);
  }
  void value(std::string_view name, std::string_view label, std::string_view of, double number) {
    fmt::format_to(std::back_inserter(text), "spectr_{}{{{}=\"{}\"}} {}\n", name, label, of, number);
  }

  std::string text;

 private:
  void add(std::string_view name, std::string_view type, std::string_view help, double number) {
    head(name, type, help);
    fmt::format_to(std::back_inserter(text), "spectr_{} {}\n", name, number);
  }
};

double as_double(std::uint64_t n) {
  return static_cast<double>(n);
}

}  // namespace

std::string metrics_of(const Slots& slots) {
  const Counts c = slots.counts();
  const std::vector<PassCounts> passes = slots.passes();
  const std::vector<SlotState> states = slots.states();
  const PassCounts& target = passes.back();
  Text out;
  out.counter("prompt_tokens_total", "Prompt tokens computed.", as_double(c.prompt_tokens));
  out.counter("prompt_tokens_cached_total", "Prompt tokens taken from a slot's memory.",
              as_double(c.cached_tokens));
  out.counter("prompt_seconds_total", "Seconds spent on prompts.", c.prompt_seconds);
  out.counter("tokens_predicted_total", "Tokens generated.", as_double(c.generated));
  out.counter("tokens_predicted_seconds_total", "Seconds spent on generating, over all slots.",
              c.generation_seconds);
  out.gauge("predicted_tokens_seconds", "Tokens per second of a slot, on the average.",
            ratio(as_double(c.generated), c.generation_seconds));
  out.counter("spec_decode_num_drafts_total", "Blocks that drafted.", as_double(c.drafts));
  out.counter("spec_decode_num_draft_tokens_total", "Draft tokens drawn.", as_double(c.drafted));
  out.counter("spec_decode_num_accepted_tokens_total", "Draft tokens accepted.", as_double(c.accepted));
  out.head("spec_decode_num_accepted_tokens_per_pos_total", "counter",
           "Draft tokens accepted, by place in the block.");
  for (std::size_t i = 0; i < c.accepted_at.size(); ++i) {
    out.value("spec_decode_num_accepted_tokens_per_pos_total", "position", fmt::to_string(i),
              as_double(c.accepted_at[i]));
  }
  out.counter("n_decode_total", "Passes of the target.", as_double(target.passes));
  out.counter("decode_rows_total", "Rows of these passes.", as_double(target.rows));
  out.gauge("n_busy_slots_per_decode", "Texts per pass of the target, on the average.",
            ratio(as_double(target.sequences), as_double(target.passes)));
  out.gauge("requests_processing", "Texts being written.",
            as_double(static_cast<std::uint64_t>(
                std::ranges::count_if(states, [](const SlotState& state) { return state.busy; }))));
  out.gauge("requests_deferred", "Texts that wait for a slot.", as_double(slots.queued()));
  out.gauge("slots", "Texts that can be decoded concurrently.", as_double(states.size()));
  out.head("texts_total", "counter", "Texts that ended, by how.");
  out.value("texts_total", "ending", "finished", as_double(c.finished));
  out.value("texts_total", "ending", "given_up", as_double(c.cancelled));
  out.value("texts_total", "ending", "failed", as_double(c.failed));
  return out.text;
}

}  // namespace spectr::server
