#include "spectr/engine/completion_slot.h"

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/counter_random.h"
#include "spectr/base/stopwatch.h"
#include "spectr/decode/generate.h"
#include "spectr/decode/score_sequence.h"
#include "spectr/engine/prompt_file.h"
#include "spectr/nn/drafters/drafter_session.h"
#include "spectr/sampling/likelihood.h"

namespace spectr {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t scored_rows = 64;  // of a pass that scores a prompt

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

/// Compares the time of blocks with the costs that the method uses.
class BlockTimes {
 public:
  explicit BlockTimes(const Decoder& decoder) : decoder_(decoder) {}

  /// Returns the seconds of all stages so far.
  double seconds() const {
    const auto& [draft, target, select] = decoder_.seconds();
    return draft + target + select;
  }

  /// Called after each block. The first block is excluded, because it includes a part of the prompt.
  void add_block(const std::optional<Expectation>& expectation, CostCheck& check) {
    const double now = seconds(), took = now - std::exchange(before_, now);
    if (expectation && took < now) check.add(took, expectation->charged);
  }

 private:
  const Decoder& decoder_;
  double before_ = 0.0;
};

}  // namespace

CompletionSlot::CompletionSlot(std::size_t number, const EngineModels& models,
                               std::optional<std::size_t> max_nodes, Batcher& batcher, PrefixCache& prefixes,
                               EngineCounters& counters, std::span<PassProfile> profiles)
    : number_(number),
      max_nodes_(max_nodes),
      models_(models),
      batcher_(batcher),
      prefixes_(prefixes),
      counters_(counters),
      target_{models.target.get()} {
  for (const auto& draft : models.drafts) drafts_.push_back({draft.get()});
  if (!profiles.empty()) {
    target_.profile = profiles.data();
    for (std::size_t i = 0; i < drafts_.size(); ++i) drafts_[i].profile = &profiles[i + 1];
  }
}

Result<void> CompletionSlot::open() {
  for (Cache* cache : caches_of(drafts_.size())) SPECTR_TRY_VOID(start(*cache, *max_nodes_));
  return {};
}

Result<void> CompletionSlot::start(Cache& cache, std::size_t nodes) {
  if (&cache == &target_) trained_.reset();  // it follows the session that ends here
  cache = {cache.model, cache.profile};      // frees memory before allocating more
  const std::size_t context = std::min(models_.context, cache.model->context());
  SPECTR_TRY(auto session, cache.model->start(context, nodes, cache.profile));
  cache.session = batcher_.adopt(std::move(session), *cache.model);
  cache.nodes = nodes;
  return {};
}

/// Drops the sessions in any state. The next completion starts new ones.
void CompletionSlot::reset() {
  trained_.reset();
  const auto drop = [](Cache& cache) { cache = {cache.model, cache.profile}; };
  drop(target_);
  std::ranges::for_each(drafts_, drop);
}

std::size_t CompletionSlot::Cache::common(std::span<const Token> prompt) const {
  return session == nullptr ? 0 : common_beginning(session->known(), prompt);
}

std::size_t CompletionSlot::reusable_prefix(std::span<const Token> prompt) const {
  return target_.session == nullptr ? 0 : target_.session->copyable(target_.common(prompt));
}

std::vector<CompletionSlot::Cache*> CompletionSlot::caches_of(std::size_t draft_models) {
  std::vector<Cache*> caches = {&target_};
  for (Cache& draft : std::span(drafts_).first(std::min(draft_models, drafts_.size())))
    caches.push_back(&draft);
  return caches;
}

Result<CompletionSlot::Sequence> CompletionSlot::save(const std::filesystem::path& path) const {
  const std::size_t tokens = length() == 0 ? 0 : target_.session->copyable(length());
  if (tokens == 0) return error("there is no sequence to save");
  const auto known = target_.session->known().first(tokens);
  std::optional<SavedSequence> saved = target_.session->save(tokens, {});
  if (!saved)
    return error(ErrorCode::unsupported, "sequences are not saved where {} is computed", models_.path);
  const CachedSequence sequence{target_.model, {known.begin(), known.end()}, std::move(*saved)};
  SPECTR_TRY(const std::size_t bytes, write_prompt_file(path, *target_.model, models_.context, sequence));
  return Sequence{tokens, bytes};
}

Result<CompletionSlot::Sequence> CompletionSlot::restore(const std::filesystem::path& path) {
  SPECTR_TRY(CachedSequence sequence, read_prompt_file(path, *target_.model, models_.context));
  const std::size_t tokens = sequence.tokens.size(), bytes = sequence.saved.bytes();
  if (target_.session == nullptr) {
    prefixes_.add(std::move(sequence));
    return Sequence{tokens, bytes};
  }
  const std::size_t restorable = target_.session->restorable(sequence.saved, tokens);
  if (restorable == 0 || !target_.session->recall(sequence.tokens, sequence.saved, restorable))
    return error("{}: was saved for sequences or trees of another size", path.string());
  return Sequence{restorable, bytes};
}

CompletionSlot::Sequence CompletionSlot::erase() {
  const Sequence erased{length(), 0};
  for (Cache* cache : caches_of(drafts_.size()))
    if (cache->session != nullptr) cache->session->rewind(0);
  if (trained_) trained_->rewind(0);
  return erased;
}

CompletionResult CompletionSlot::run(const CompletionJob& job) {
  CompletionResult result;
  result.slot = number_;
  result.begun = Clock::now();
  counters_.count(&EngineCounts::queued, result.begun - job.submitted);
  try {
    if (const auto done = generate(job, result); !done) {
      result.reason = FinishReason::failed;
      result.failure = done.error();
    }
  } catch (const std::bad_alloc&) {
    result.reason = FinishReason::failed;
    result.failure = {"out of memory", ErrorCode::out_of_memory};
  } catch (const std::exception& failure) {
    result.reason = FinishReason::failed;
    result.failure = {failure.what(), ErrorCode::internal};
  }
  if (result.reason == FinishReason::failed) reset();
  return result;
}

/// Saves the part of the session's sequence that the prompt would replace, and restores a cached sequence if
/// it has more of the prompt than the session.
void CompletionSlot::recall(Cache& cache, std::span<const Token> prompt) {
  SPECTR_CHECK(cache.session != nullptr);
  BatchedSession& session = *cache.session;
  const std::size_t held = session.copyable(cache.common(prompt));
  if (session.known().size() >= held + PrefixCache::worth_saving)
    prefixes_.save(*cache.model, session.known(), session);
  const PrefixCache::Found found = prefixes_.find(*cache.model, prompt, session);
  if (found.tokens >= held + PrefixCache::worth_saving)
    session.recall(found.sequence->tokens, found.sequence->saved, found.tokens);
}

/// Returns the sessions of these caches for trees of `nodes` nodes, the target's first, rewound to what they
/// hold of the prompt.
Result<Models> CompletionSlot::begin(std::span<Cache* const> caches, const CompletionJob& job,
                                     std::size_t nodes) {
  const PreparedRequest& prepared = *job.request;
  const std::span<const Token> prompt = prepared.prompt_of(job.choice);
  const bool shares = prepared.request.cache_prompt;
  for (Cache* cache : caches) {
    if (!cache->session || cache->nodes != nodes) SPECTR_TRY_VOID(start(*cache, nodes));
    // Scoring needs the logits of the whole prompt, and logits of computed tokens are not kept. The last
    // token of the prompt is always computed: the first block starts from its logits.
    const bool scores = prepared.request.score_prompt && cache == &target_;
    const std::span<const Token> reusable = prompt.first(scores ? 0 : prompt.size() - 1);
    if (shares) recall(*cache, reusable);
    // Completions of one request always compute a common prompt once.
    const bool reuses = shares || (job.group != 0 && cache->session->group() == job.group);
    cache->session->begin(reuses ? cache->common(reusable) : 0,
                          {.all = shares && !scores, .group = scores ? 0 : job.group});
    cache->session->cancel_when(job.completion->stop());
  }
  SPECTR_TRY(Warp warp, Warp::make(prepared.decoding.warp->options(), prepared.rule_of(job.choice)));
  Models models{*target_.session, {}, std::move(warp)};
  for (Cache* draft : caches.subspan(1)) models.drafts.push_back(draft->session.get());
  const bool drafts = prepared.decoding.method->models.max > models_.drafts.size();
  SPECTR_TRY_VOID(begin_trained(prompt, drafts, models));
  return models;
}

/// Adds the trained drafter's session, as the last one, if there is one and the method takes another draft
/// model. The part of the prompt that it has read is kept as far as the target's session has it. The target
/// records states for it only.
Result<void> CompletionSlot::begin_trained(std::span<const Token> prompt, bool drafts, Models& models) {
  if (models_.trained == nullptr) return {};
  using Recorded = Features::Recorded;
  models.target.features()->record(drafts ? models_.trained->features() : Recorded::none);
  if (!drafts) return {};
  if (!trained_) {
    SPECTR_TRY(trained_, models_.trained->follow(models.target, {.nodes = target_.nodes}));
    trained_text_.clear();
  }
  const std::size_t common = common_beginning(std::span<const Token>(trained_text_), prompt);
  trained_->rewind(std::min({common, models.target.length(), trained_->length() + 1}));
  // States that were computed without being recorded are recomputed, if the drafter needs those of all
  // tokens.
  const Features& features = *models.target.features();
  const std::size_t needed = trained_->length();
  const bool is_recorded = features.first() <= needed && needed < features.end();
  if (features.recorded() == Recorded::all && !is_recorded && models.target.length() > needed)
    models.target.rewind(needed);
  models.drafts.push_back(trained_.get());
  return {};
}

/// Ends the use of the sessions, which hold a prefix of this sequence.
void CompletionSlot::end(std::span<Cache* const> caches, const Models& models,
                         const std::vector<Token>& sequence) {
  const bool has_trained = models.drafts.size() + 1 > caches.size();
  if (has_trained) trained_text_ = sequence;
  target_.session->report_progress({});
  for (Cache* cache : caches) cache->session->end(sequence);
}

/// Computes the prompt in passes of at most `nodes` rows and adds its scores to the completion.
Result<void> CompletionSlot::score_prompt(const CompletionJob& job, Session& target,
                                          std::size_t nodes) const {
  const std::span<const Token> prompt = job.request->prompt_of(job.choice);
  const std::size_t alternatives = job.request->request.details.value_or(0);
  CompletionEvent event;
  const auto add = [&](std::size_t i, const Logits& logits) {
    PromptScore score{-negative_log_likelihood(logits, prompt[i]), {}};
    if (alternatives > 0) {
      for (const Likelihood& other : likeliest(logits, alternatives)) {
        score.alternatives.push_back(
            {other.token, models_.tokenizer->piece(other.token), other.log_probability});
      }
    }
    event.delta.prompt.push_back(std::move(score));
  };
  SPECTR_TRY_VOID(score_sequence(target, prompt, std::min(nodes, scored_rows), add));
  job.completion->add(job.choice, std::move(event));
  return {};
}

Result<void> CompletionSlot::generate(const CompletionJob& job, CompletionResult& result) {
  const Request& request = job.request->request;
  const DecodingSettings& decoding = job.request->decoding;
  const std::span<const Token> prompt = job.request->prompt_of(job.choice);
  Completion& completion = *job.completion;
  SPECTR_TRY(Decoder decoder, make_decoder(*decoding.method, decoding.options));
  const std::vector<Cache*> caches = caches_of(decoding.method->models.max);
  std::optional<Batcher::ActiveSequence> active(batcher_);
  std::size_t nodes = max_nodes_.value_or(decoder.max_nodes(models_.context));
  if (request.score_prompt && !max_nodes_) nodes = std::max(nodes, scored_rows);
  SPECTR_TRY(Models models, begin(caches, job, nodes));
  result.cached = target_.session->length();
  Statistics& statistics = result.statistics;
  const auto report_progress = [&](std::size_t processed) {
    if (!request.report_progress || statistics.blocks() > 0) return;
    const std::chrono::duration<double> since = Clock::now() - result.begun;
    const std::size_t cached = result.cached + target_.session->copied(), all = prompt.size();
    CompletionEvent event;
    event.progress = {{all, cached, std::min(processed, all), since.count()}};
    completion.add(job.choice, std::move(event));
  };
  report_progress(result.cached);
  target_.session->report_progress(report_progress);

  std::vector<Token> sequence(prompt.begin(), prompt.end());
  CompletionText text(*models_.tokenizer, request.stop_words,
                      request.reasoning
                          ? ReasoningSplitter::make(*request.reasoning->form, request.reasoning->begun,
                                                    request.reasoning->keeps)
                          : nullptr,
                      request.min_indent);
  Stopwatch watch;
  BlockTimes times(decoder);
  const bool reads_costs = decoding.method->reads(Setting::costs);
  Clock::time_point last = job.submitted, first;
  const auto listener = [&](const Block& block) -> std::optional<std::size_t> {
    const auto now = Clock::now();
    const bool is_first = statistics.blocks() == 0;
    counters_.count(is_first ? &EngineCounts::first_token : &EngineCounts::gap, now - last);
    last = now;
    if (is_first) first = now;
    if (request.line_time && now - first > *request.line_time) text.end_at_new_line();
    sequence.insert(sequence.end(), block.tokens.begin(), block.tokens.end());
    CompletionEvent event{.delta = text.add(block)};
    if (is_first) {
      report_progress(prompt.size());
      statistics.total_seconds = watch.lap();
      statistics.prompt_seconds = statistics.total_seconds - times.seconds();
    }
    for (TokenReport& report : event.delta.tokens) {
      report.block = statistics.blocks();
      report.seconds = times.seconds();
    }
    if (reads_costs) event.expectation = decoder.drafter().expectation();
    times.add_block(event.expectation, result.cost_check);
    const std::size_t kept = text.kept().value_or(block.tokens.size());
    statistics.count(block, kept);
    counters_.count(block, kept);
    completion.add(job.choice, std::move(event));
    return completion.cancelled() ? kept : text.kept();
  };
  const GenerateOptions options{
      job.request->limit_of(job.choice),
      request.ignore_eos ? std::vector<Token>{} : models_.tokenizer->vocabulary().ends(), request.details,
      request.sampled_alternatives};
  CounterRandom choices(request.seed, request.first_sample + job.choice);
  const Clock::time_point before = Clock::now();
  const Result<void> scored = request.score_prompt ? score_prompt(job, models.target, nodes) : Result<void>();
  const std::chrono::duration<double> scoring = Clock::now() - before;
  const auto generation = scored ? spectr::generate(decoder, models, prompt, options, choices, listener)
                                 : Result<Generation>(std::unexpected(scored.error()));
  end(caches, models, sequence);
  active.reset();
  result.cached += target_.session->copied();
  result.computed = std::min(target_.session->length(), prompt.size()) - result.cached;
  result.shape = decoder.shape();
  result.learned = decoder.drafter().learned();
  if (generation) {
    statistics = generation->statistics;
    statistics.prompt_seconds += scoring.count();
    statistics.total_seconds += scoring.count();
  } else {  // cancelled during a pass, or failed
    statistics.total_seconds += watch.lap();
    if (statistics.blocks() == 0) statistics.prompt_seconds = statistics.total_seconds;
    const bool is_cancelled = completion.cancelled() && generation.error().code == ErrorCode::cancelled;
    if (!is_cancelled) return std::unexpected(generation.error());
  }
  completion.add(job.choice, {.delta = text.finish()});
  result.reason = completion.cancelled() ? completion.why() : finish_reason_of(generation->stop);
  if (result.reason == FinishReason::limit && job.request->context_limits(job.choice))
    result.reason = FinishReason::context;
  result.has_new_line = text.has_new_line();
  result.reasoning_tokens = text.reasoning_tokens();
  result.stop_word = text.stop_word();
  if (!text.stop_word().empty()) {
    result.reason = FinishReason::word;
  } else if (text.kept() && !completion.cancelled()) {
    result.reason = FinishReason::limit;  // set by its lines
  }
  return {};
}

}  // namespace spectr
