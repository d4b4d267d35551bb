#include "apps/server/answers/format.h"

#include <cmath>

namespace spectr::server {

double AnswerHead::log_probability(const TokenReport& report) const {
  return request.sampled_alternatives ? std::log(report.target.value_or(0.0)) : report.log_probability;
}

Json Format::progress(std::size_t choice, const PromptProgress& progress) const {
  Json event = chunk(choice, {});
  event["prompt_progress"] = {{"total", progress.total},
                              {"cache", progress.cached},
                              {"processed", progress.processed},
                              {"time_ms", std::llround(1e3 * progress.seconds)}};
  return event;
}

std::unique_ptr<Format> make_format(const AnswerHead& head) {
  if (head.request.api == Api::native) return native_format(head);
  return head.request.api == Api::both ? bilingual_format(head) : openai_format(head);
}

}  // namespace spectr::server
