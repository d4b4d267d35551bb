#include "apps/server/answers/format.h"

#include <cmath>

namespace spectr::server {

double AnswerHead::log_probability(const TokenReport& report) const {
  return request.sampled_alternatives ? std::log(report.target.value_or(0.0)) : report.log_probability;
}

Json Format::progress(std::size_t choice, const PromptProgress& progress) {
  Json event = chunk(choice, {}).front();
  event["prompt_progress"] = {{"total", progress.total},
                              {"cache", progress.cached},
                              {"processed", progress.processed},
                              {"time_ms", std::llround(1e3 * progress.seconds)}};
  return event;
}

std::unique_ptr<Format> make_format(const AnswerHead& head) {
  switch (head.request.api) {
    case Api::native:
      return native_format(head);
    case Api::both:
      return bilingual_format(head);
    case Api::messages:
      return messages_format(head);
    case Api::responses:
      return responses_format(head);
    case Api::completion:
    case Api::chat:
      break;
  }
  return openai_format(head);
}

}  // namespace spectr::server
