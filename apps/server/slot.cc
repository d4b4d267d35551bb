#include "apps/server/slot.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "spectr/base/counter_random.h"
#include "spectr/base/stopwatch.h"
#include "spectr/decode/generate.h"

namespace spectr::server {
namespace {

Ending ending_of(StopReason reason) {
  switch (reason) {
    case StopReason::eos:
      return Ending::eos;
    case StopReason::limit:
      return Ending::limit;
    case StopReason::word:
      return Ending::word;
  }
  return Ending::failed;
}

}  // namespace

Slot::Slot(std::size_t number, const ModelSet& models, std::size_t context, SharedPasses& passes,
           Totals& totals)
    : number_(number),
      context_(context),
      models_(models),
      passes_(passes),
      totals_(totals),
      target_{models.target.get()} {
  for (const auto& draft : models.drafts) drafts_.push_back({draft.get()});
  start(target_);
  for (Memory& draft : drafts_) start(draft);
}

void Slot::start(Memory& memory) {
  auto session = passes_.start(*memory.model, std::min(context_, memory.model->config().context));
  memory.session = session.get();
  memory.owned = std::move(session);
}

void Slot::forget() {
  target_ = {target_.model};
  for (Memory& draft : drafts_) draft = {draft.model};
}

std::size_t Slot::Memory::common(std::span<const Token> prompt) const {
  if (session == nullptr) return 0;
  const auto known = std::span(text).first(std::min(text.size(), session->length()));
  return static_cast<std::size_t>(std::ranges::mismatch(known, prompt).in1 - known.begin());
}

std::vector<Slot::Memory*> Slot::memories_of(const MethodRule& method) {
  std::vector<Memory*> memories = {&target_};
  const std::size_t drafts = std::min(method.models.most, drafts_.size());
  for (Memory& draft : std::span(drafts_).first(drafts)) memories.push_back(&draft);
  return memories;
}

Outcome Slot::run(const Task& task, Answer& answer, std::size_t choice) {
  Outcome outcome;
  outcome.slot = number_;
  outcome.begun = std::chrono::steady_clock::now();
  try {
    if (const auto written = write(task, answer, choice, outcome); !written) {
      outcome.ending = Ending::failed;
      outcome.failure = written.error().message;
    }
  } catch (const std::exception& failure) {
    outcome.ending = Ending::failed;
    outcome.failure = failure.what();
  }
  if (outcome.ending == Ending::failed) forget();
  return outcome;
}

Models Slot::lend(std::span<Memory* const> memories, const Task& task, const Answer& answer) {
  for (Memory* memory : memories) {
    if (!memory->owned) start(*memory);
    // The prompt's last token is always computed: the first block starts from its logits.
    const std::size_t common = std::min(memory->common(task.prompt), task.prompt.size() - 1);
    memory->session->rewind(task.cache_prompt ? common : 0);
    memory->session->give_up_when(answer.stop());
  }
  Models models{std::move(target_.owned), {}, *task.warp};
  for (Memory* draft : memories.subspan(1)) models.drafts.push_back(std::move(draft->owned));
  return models;
}

void Slot::take_back(std::span<Memory* const> memories, Models models, const std::vector<Token>& text) {
  target_.owned = std::move(models.target);
  for (std::size_t i = 0; i < models.drafts.size(); ++i) memories[i + 1]->owned = std::move(models.drafts[i]);
  for (Memory* memory : memories) memory->text = text;
}

Result<void> Slot::write(const Task& task, Answer& answer, std::size_t choice, Outcome& outcome) {
  SPECTR_TRY(Decoder decoder, make_decoder(*task.method, task.settings));
  const std::vector<Memory*> memories = memories_of(*task.method);
  Models models = lend(memories, task, answer);
  outcome.cached = target_.session->length();

  std::vector<Token> text = task.prompt;
  TextOutput output(*models_.tokenizer, task.stop_words);
  Statistics& statistics = outcome.statistics;
  Stopwatch watch;
  const auto generating = [&decoder] {
    const StageSeconds& spent = decoder.seconds();
    return spent.draft + spent.target + spent.select;
  };
  const auto listener = [&](const Block& block) -> std::optional<std::size_t> {
    text.insert(text.end(), block.tokens.begin(), block.tokens.end());
    Piece piece = output.add(block);
    if (statistics.blocks() == 0) {
      statistics.total_seconds = watch.lap();
      statistics.prompt_seconds = statistics.total_seconds - generating();
    }
    for (TokenReport& report : piece.tokens) {
      report.block = statistics.blocks();
      report.seconds = generating();
    }
    const std::size_t kept = output.kept().value_or(block.tokens.size());
    statistics.count(block, kept);
    totals_.count(block, kept);
    answer.add(choice, std::move(piece));
    return answer.given_up() ? kept : output.kept();
  };
  const GenerateOptions options{
      task.limit, task.ignore_eos ? std::vector<Token>{} : models_.tokenizer->vocabulary().ends(),
      task.details};
  CounterRandom choices(task.seed, task.sample);
  const auto generation = [&] {
    const SharedPasses::Seat seat(passes_);
    return generate(decoder, models, task.prompt, options, choices, listener);
  }();

  take_back(memories, std::move(models), text);
  outcome.computed = std::min(target_.session->length(), task.prompt.size()) - outcome.cached;
  outcome.length = decoder.shape().length;
  if (generation) {
    statistics = generation->statistics;
  } else {  // given up in the middle of a pass, or failed
    statistics.total_seconds += watch.lap();
    if (statistics.blocks() == 0) statistics.prompt_seconds = statistics.total_seconds;
    if (!answer.given_up()) return std::unexpected(generation.error());
  }
  if (std::string rest = output.finish(); !rest.empty()) answer.add(choice, {std::move(rest), {}});
  outcome.ending = answer.given_up() ? Ending::given_up : ending_of(generation->stop);
  outcome.stop_word = output.stop_word();
  if (!output.stop_word().empty()) outcome.ending = Ending::word;
  return {};
}

}  // namespace spectr::server
