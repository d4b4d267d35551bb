#include "spectr/decode/generate.h"

#include <algorithm>

#include "spectr/base/stopwatch.h"

namespace spectr {
namespace {

// Memory is reserved for completions of up to this length; longer ones reallocate.
constexpr std::size_t planned_tokens = std::size_t{1} << 16;

}  // namespace

std::string_view name(StopReason reason) {
  switch (reason) {
    case StopReason::eos:
      return "eos";
    case StopReason::limit:
      return "limit";
    case StopReason::word:
      return "word";
  }
  return "";
}

Result<Generation> generate(Decoder& decoder, Models& models, std::span<const Token> prompt,
                            const GenerateOptions& options, Choices& choices, const BlockListener& listener) {
  SPECTR_CHECK(!prompt.empty());
  const std::size_t context = models.target.context();
  if (prompt.size() > context) {
    return error("the prompt has {} tokens, but the context holds {}", prompt.size(), context);
  }
  models.warp.restart_feedback();
  Generation out;
  Statistics& statistics = out.statistics;
  Stopwatch watch;
  const std::size_t left_at_first = std::min(options.limit, context - prompt.size());
  SPECTR_TRY_VOID(decoder.drafter().open({prompt, left_at_first, 0, options.ends}, models));
  statistics.prompt_seconds = watch.lap();

  std::vector<Token> sequence;
  const std::size_t planned = std::min(left_at_first, planned_tokens);
  sequence.reserve(prompt.size() + planned);
  sequence.assign(prompt.begin(), prompt.end());
  out.tokens.reserve(planned);
  out.sources.reserve(planned);
  const StageSeconds before = decoder.seconds();
  for (std::size_t index = 0;; ++index) {
    const std::size_t left = std::min(options.limit - out.tokens.size(), context - sequence.size());
    if (left == 0) break;
    SPECTR_TRY(const Block block, decoder.step({sequence, left, index, options.ends, options.details,
                                                options.sampled_alternatives},
                                               models, choices));
    const auto cut = listener ? listener(block) : std::nullopt;
    const std::size_t kept = cut.value_or(block.tokens.size());
    SPECTR_CHECK(kept <= block.tokens.size());
    sequence.insert(sequence.end(), block.tokens.begin(), block.tokens.end());
    out.tokens.insert(out.tokens.end(), block.tokens.begin(),
                      block.tokens.begin() + static_cast<std::ptrdiff_t>(kept));
    out.sources.insert(out.sources.end(), block.sources.begin(),
                       block.sources.begin() + static_cast<std::ptrdiff_t>(kept));
    statistics.count(block, kept);
    if (cut) {
      out.stop = StopReason::word;
      break;
    }
    if (BlockStart{sequence, left, index, options.ends}.is_end(sequence.back())) {
      out.stop = StopReason::eos;
      break;
    }
  }
  statistics.total_seconds = statistics.prompt_seconds + watch.lap();
  const StageSeconds& after = decoder.seconds();
  statistics.stages = {after.draft - before.draft, after.target - before.target,
                       after.select - before.select};
  return out;
}

}  // namespace spectr
