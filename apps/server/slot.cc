#include "apps/server/slot.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "spectr/base/counter_random.h"
#include "spectr/base/stopwatch.h"
#include "spectr/decode/generate.h"

namespace spectr::server {
namespace {

FinishReason finish_reason_of(StopReason reason) {
  switch (reason) {
    case StopReason::eos:
      return FinishReason::eos;
    case StopReason::limit:
      return FinishReason::limit;
    case StopReason::word:
      return FinishReason::word;
  }
  return FinishReason::failed;
}

}  // namespace

Slot::Slot(std::size_t number, const ModelSet& models, std::size_t context, Batcher& batcher, Totals& totals)
    : number_(number),
      context_(context),
      models_(models),
      batcher_(batcher),
      totals_(totals),
      target_{models.target.get()} {
  for (const auto& draft : models.drafts) drafts_.push_back({draft.get()});
  // The models can have such contexts: what may be missing is memory, for so many slots.
  if (!start(target_)) throw std::bad_alloc();
  for (SlotCache& draft : drafts_) {
    if (!start(draft)) throw std::bad_alloc();
  }
}

Result<void> Slot::start(SlotCache& cache) {
  SPECTR_TRY(auto session, batcher_.start(*cache.model, std::min(context_, cache.model->context())));
  cache.session = session.get();
  cache.owned = std::move(session);
  return {};
}

void Slot::reset() {
  target_ = {target_.model};
  for (SlotCache& draft : drafts_) draft = {draft.model};
}

std::size_t Slot::SlotCache::common(std::span<const Token> prompt) const {
  return session == nullptr ? 0 : common_beginning(session->known(), prompt);
}

std::size_t Slot::remembers(std::span<const Token> prompt) const {
  return target_.session == nullptr ? 0 : target_.session->copyable(target_.common(prompt));
}

std::vector<Slot::SlotCache*> Slot::caches_of(const MethodRule& method) {
  std::vector<SlotCache*> caches = {&target_};
  const std::size_t drafts = std::min(method.models.max, drafts_.size());
  for (SlotCache& draft : std::span(drafts_).first(drafts)) caches.push_back(&draft);
  return caches;
}

Outcome Slot::run(const Task& task, Answer& answer, std::size_t choice) {
  Outcome outcome;
  outcome.slot = number_;
  outcome.begun = std::chrono::steady_clock::now();
  totals_.count(&Counts::queued, outcome.begun - task.asked);
  try {
    if (const auto written = write(task, answer, choice, outcome); !written) {
      outcome.reason = FinishReason::failed;
      outcome.failure = written.error().message;
    }
  } catch (const std::exception& failure) {
    outcome.reason = FinishReason::failed;
    outcome.failure = failure.what();
  }
  if (outcome.reason == FinishReason::failed) reset();
  return outcome;
}

Result<Models> Slot::bind(std::span<SlotCache* const> caches, const Task& task, const Answer& answer) {
  for (SlotCache* cache : caches) {
    if (!cache->owned) SPECTR_TRY_VOID(start(*cache));
    // The prompt's last token is always computed: the first block starts from its logits.
    const std::size_t common = std::min(cache->common(task.prompt), task.prompt.size() - 1);
    // The texts of a request read a common prompt once, whatever else they may know.
    const bool knows = task.cache_prompt || (task.request != 0 && cache->session->group() == task.request);
    cache->session->begin(knows ? common : 0, {.all = task.cache_prompt, .group = task.request});
    cache->session->cancel_when(answer.stop());
  }
  Models models{std::move(target_.owned), {}, *task.warp};
  for (SlotCache* draft : caches.subspan(1)) models.drafts.push_back(std::move(draft->owned));
  return models;
}

void Slot::unbind(std::span<SlotCache* const> caches, Models models, const std::vector<Token>& text) {
  target_.owned = std::move(models.target);
  for (std::size_t i = 0; i < models.drafts.size(); ++i) caches[i + 1]->owned = std::move(models.drafts[i]);
  target_.session->report_progress({});
  for (SlotCache* cache : caches) cache->session->end(text);
}

Result<void> Slot::write(const Task& task, Answer& answer, std::size_t choice, Outcome& outcome) {
  SPECTR_TRY(Decoder decoder, make_decoder(*task.method, task.settings));
  const std::vector<SlotCache*> caches = caches_of(*task.method);
  std::optional<Batcher::ActiveSequence> active(batcher_);
  SPECTR_TRY(Models models, bind(caches, task, answer));
  outcome.cached = target_.session->length();
  const auto tell_progress = [this, &task, &answer, choice, &outcome](std::size_t processed) {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - outcome.begun;
    const std::size_t cached = outcome.cached + target_.session->copied(), total = task.prompt.size();
    if (task.progress && outcome.statistics.blocks() == 0)
      answer.add(choice,
                 {.text = "", .progress = {{total, cached, std::min(processed, total), since.count()}}});
  };
  tell_progress(outcome.cached);
  target_.session->report_progress(tell_progress);

  std::vector<Token> text = task.prompt;
  TextOutput output(
      *models_.tokenizer, task.stop_words,
      task.reasoning ? ReasoningSplitter::make(*task.reasoning->form, task.reasoning->begun) : nullptr);
  Statistics& statistics = outcome.statistics;
  Stopwatch watch;
  const auto generating = [&decoder] {
    const StageSeconds& spent = decoder.seconds();
    return spent.draft + spent.target + spent.select;
  };
  std::chrono::steady_clock::time_point last = task.asked;
  const auto listener = [&](const Block& block) -> std::optional<std::size_t> {
    const auto now = std::chrono::steady_clock::now();
    totals_.count(statistics.blocks() == 0 ? &Counts::first_token : &Counts::gap, now - last);
    last = now;
    text.insert(text.end(), block.tokens.begin(), block.tokens.end());
    Chunk chunk = output.add(block);
    if (statistics.blocks() == 0) {
      tell_progress(task.prompt.size());
      statistics.total_seconds = watch.lap();
      statistics.prompt_seconds = statistics.total_seconds - generating();
    }
    for (TokenReport& report : chunk.tokens) {
      report.block = statistics.blocks();
      report.seconds = generating();
    }
    const std::size_t kept = output.kept().value_or(block.tokens.size());
    statistics.count(block, kept);
    totals_.count(block, kept);
    answer.add(choice, std::move(chunk));
    return answer.cancelled() ? kept : output.kept();
  };
  const GenerateOptions options{
      task.limit, task.ignore_eos ? std::vector<Token>{} : models_.tokenizer->vocabulary().ends(),
      task.details, task.sampled_alternatives};
  CounterRandom choices(task.seed, task.sample);
  const auto generation = generate(decoder, models, task.prompt, options, choices, listener);
  unbind(caches, std::move(models), text);
  active.reset();
  outcome.cached += target_.session->copied();
  outcome.computed = std::min(target_.session->length(), task.prompt.size()) - outcome.cached;
  outcome.length = decoder.shape().length;
  if (generation) {
    statistics = generation->statistics;
  } else {  // cancelled in the middle of a pass, or failed
    statistics.total_seconds += watch.lap();
    if (statistics.blocks() == 0) statistics.prompt_seconds = statistics.total_seconds;
    if (!answer.cancelled()) return std::unexpected(generation.error());
  }
  answer.add(choice, output.finish());
  outcome.reason = answer.cancelled() ? answer.why() : finish_reason_of(generation->stop);
  if (outcome.reason == FinishReason::limit && task.limited_by_context)
    outcome.reason = FinishReason::context;
  outcome.has_new_line = output.has_new_line();
  outcome.stop_word = output.stop_word();
  if (!output.stop_word().empty()) outcome.reason = FinishReason::word;
  return {};
}

}  // namespace spectr::server
