// A synthetic pair: the round trips of drafting, and `auto` next to plain decoding.
#include <memory>

#include "spectr/base/counter_random.h"
#include "spectr/base/stopwatch.h"
#include "spectr/decode/costs/measure_costs.h"
#include "spectr/decode/generate.h"
#include "spectr/decode/methods.h"
#include "tests/card/card.h"
#include "tests/card/model_on.h"
#include "tests/support/value_of.h"

namespace spectr::card {
namespace {

using test::value_of;

/// The result of decoding with a method.
struct Decoded {
  std::vector<Token> tokens;
  double tokens_per_second, block_efficiency;
};

Decoded decode(const Transformer& target, std::span<const LanguageModel* const> drafts,
               const std::string& method, const MethodOptions& options, std::size_t limit) {
  WarpOptions greedy;
  greedy.temperature = 0;
  const Warp warp = value_of(Warp::make(greedy));
  constexpr Token prompt[] = {5, 9, 17};
  constexpr std::size_t nodes = 128;
  Decoder decoder = value_of(make_decoder(*value_of(find_method(method)), options));
  OwnedModels models = value_of(OwnedModels::start(target, drafts, warp, limit + std::size(prompt), nodes));
  CounterRandom choices(1);
  Stopwatch watch;
  Generation made = value_of(generate(decoder, models, prompt, {.limit = limit}, choices));
  const auto tokens = static_cast<double>(made.tokens.size());
  return {std::move(made.tokens), tokens / watch.lap(),
          tokens / static_cast<double>(made.statistics.target_calls())};
}

}  // namespace

void measure_drafting(const Card& card, const Extent& extent, Report& report) {
  report.begin("round trips of a draft of one layer",
               {"nodes", "ms a pass", "ms with top 40", "ms with Σ e^x"});
  const auto draft = load_random(card.device, extent, draft_shape(extent), llama_formats().front());
  const std::size_t passes = extent.dry ? 1 : 50;
  TimedSession session(*draft, extent.dry ? 16 : 512, 16);
  for (const std::size_t nodes : extent.of(std::vector<std::size_t>{1, 4, 8, 16})) {
    const double alone = session.median(nodes, passes);
    const double with_top =
        session.median(nodes, passes, [](const Session& of) { of.logits(TokenTree::root).top(40); });
    const double with_both = session.median(nodes, passes, [](const Session& of) {
      of.logits(TokenTree::root).top(40);
      of.logits(TokenTree::root).log_sum_exp();
    });
    report.row({nodes, alone * 1e3, with_top * 1e3, with_both * 1e3});
  }
}

void measure_auto(const Card& card, const Extent& extent, Report& report) {
  report.begin("a synthetic pair, greedy", {"format", "method", "tokens/s", "tokens a block"});
  const std::shared_ptr<Device> device = card.reopen ? card.reopen() : card.device;
  const std::size_t limit = extent.dry ? 24 : 256;
  std::vector<LlamaFormats> pairs = llama_formats();
  pairs.resize(extent.dry ? 1 : 2);
  for (const LlamaFormats& formats : pairs) {
    const auto target = load_random(device, extent, target_shape(extent), formats),
               draft = load_random(device, extent, draft_shape(extent), formats);
    const LanguageModel* const drafts[] = {draft.get()};
    const MeasuredCosts measured = value_of(measure_costs(*target, drafts));
    MethodOptions options;
    options.costs = std::make_shared<const Costs>(measured.costs);
    std::vector<Token> plain_tokens;
    for (const std::string method : {"plain", "auto"}) {
      const auto with = method == "plain" ? std::span<const LanguageModel* const>() : drafts;
      decode(*target, with, method, options, limit);  // passes of every width are recorded
      const Decoded made = decode(*target, with, method, options, limit);
      report.row({formats.name, method, made.tokens_per_second, made.block_efficiency});
      if (method == "plain") {
        plain_tokens = made.tokens;
      } else {
        report.compare(made.tokens == plain_tokens, "the greedy tokens of auto and plain, " + formats.name);
      }
    }
  }
}

}  // namespace spectr::card
