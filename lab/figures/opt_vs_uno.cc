// Yin et al., tables 1 and 2: the least-biased correction against its baseline on real text.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/figures/figures.h"
#include "lab/judge.h"
#include "lab/simulate.h"
#include "lab/story_models.h"
#include "lab/text_bias.h"
#include "spectr/base/counter_random.h"
#include "spectr/decode/generate.h"
#include "spectr/decode/methods.h"

namespace spectr::lab {
namespace {

/// The paper's values of ε, and smaller ones that still cause enough rejections on the bundled pair.
constexpr double epsilons[] = {0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8};
/// Additional values of ε, whose texts use separate random numbers, so that earlier results are unchanged.
constexpr double more_epsilons[] = {0.001, 0.002, 0.01};
constexpr std::uint64_t first_of_more = std::uint64_t{1} << 32;  // index of the first sample

/// The paper's results for its models, in %: prompts that OPT wins, judged by a reward model and by GPT-4
/// (table 1); and for target and draft alone (table 2).
struct Printed {
  double epsilon;
  const char* won;
};
constexpr Printed printed[] = {{0.1, "53, 54.5"}, {0.2, "53.5, 53"}, {0.4, "57.5, 53.5"}, {0.8, "52.5, 55"}};
constexpr const char* printed_target = "64.5, 69";
constexpr const char* printed_draft = "35.5, 31";

std::string printed_of(double epsilon) {
  const auto found = std::ranges::find(printed, epsilon, &Printed::epsilon);
  return found == std::end(printed) ? "-" : found->won;
}

constexpr std::size_t draft_length = 4, context_length = 256;

/// A method with its models, and statistics of the generated texts.
class Generator {
 public:
  static Result<Generator> make(std::string_view method, double epsilon, const Transformer& target,
                                const Transformer* draft) {
    SPECTR_TRY(const MethodRule* rule, find_method(method));
    SPECTR_TRY(Decoder decoder, make_decoder(*rule, {.length = draft_length, .epsilon = epsilon}));
    SPECTR_TRY(const Warp warp, Warp::make(WarpOptions::none()));
    const std::size_t context = std::min(context_length, target.context());
    std::vector<const LanguageModel*> drafts;
    if (draft != nullptr) drafts.push_back(draft);
    // SPECTR_TRY would move it once more, and GCC 12 would warn of members that may be uninitialized.
    auto models = OwnedModels::start(target, drafts, warp, context, decoder.max_nodes(context));
    if (!models) return std::unexpected(std::move(models.error()));
    return Generator(std::move(decoder), std::move(*models));
  }

  Result<std::vector<Token>> generate_text(std::span<const Token> prompt, const GenerateOptions& options,
                                           CounterRandom random) {
    models_.target.rewind(0);
    for (Session* draft : models_.drafts) draft->rewind(0);
    SPECTR_TRY(Generation text, generate(decoder_, models_, prompt, options, random));
    const auto tokens = static_cast<double>(text.tokens.size());
    tokens_ += tokens;
    calls_ += static_cast<double>(text.statistics.target_calls());
    return std::move(text.tokens);
  }

  double tokens_per_call() const { return tokens_ / calls_; }

 private:
  Generator(Decoder decoder, OwnedModels&& models)
      : decoder_(std::move(decoder)), models_(std::move(models)) {}

  Decoder decoder_;
  OwnedModels models_;
  double tokens_ = 0.0, calls_ = 0.0;
};

/// A continuation of a prompt, as input of a judge.
struct Continuation {
  std::span<const Token> prompt, text;
  std::string_view reference;
};

/// A judge of continuations; it returns nullopt if it sees no part of the continuation.
struct NamedJudge {
  std::string name;
  std::function<Result<std::optional<double>>(const Continuation&)> score;
};

/// Returns the available judges: the target's likelihood, that of the scorer, and the similarity to the
/// story's known continuation.
Result<std::vector<NamedJudge>> judges_of(const StoryModels& models, const StoryInputs& stories) {
  std::vector<NamedJudge> all;
  const auto add = [&](const char* name, Judge::By by) -> Result<void> {
    SPECTR_TRY(Judge judge, Judge::make(models, by));
    all.push_back({name, [shared = std::make_shared<Judge>(std::move(judge))](const Continuation& c) {
                     return shared->score(c.prompt, c.text);
                   }});
    return {};
  };
  SPECTR_TRY_VOID(add("target", Judge::By::target));
  if (models.scorer) SPECTR_TRY_VOID(add("scorer", Judge::By::scorer));
  const auto is_known = [](const std::string& reference) { return !reference.empty(); };
  if (stories.similarity && std::ranges::any_of(stories.references, is_known)) {
    all.push_back({"rouge-l", [&](const Continuation& c) -> Result<std::optional<double>> {
                     if (c.reference.empty()) return std::nullopt;
                     return stories.similarity(models.tokenizer().decode(c.text), c.reference);
                   }});
  }
  return all;
}

/// The comparisons that the first of two generators has won. A tie, or a text of which the judge sees no
/// part, counts as half a win. A prompt is won with more than half of its comparisons: the paper's win rate
/// is the share of prompts won. Texts of one prompt are correlated, so the spread is taken over prompts.
struct Wins {
  Average share = {};
  double prompts_won = 0.0, prompts_lost = 0.0;  // by a majority of their comparisons

  void add(double of_a_prompt) {
    share.add(of_a_prompt);
    if (of_a_prompt > 0.5) prompts_won += 1.0;
    if (of_a_prompt < 0.5) prompts_lost += 1.0;
  }
};

/// Two generators and the judges' results. The bias of both is measured at the same positions, those of their
/// first texts for every prompt.
struct Contest {
  const char* name;
  double epsilon;
  Generator first, second;
  std::vector<Wins> wins = {};  // by judge
  TextBias biases = {};
  bool is_added = false;  // with an ε of more_epsilons

  bool of_corrections() const { return epsilon > 0.0; }
  double mean(double sum) const { return sum / static_cast<double>(biases.places); }
  double first_bias() const { return of_corrections() ? mean(biases.opt) : 0.0; }
  double second_bias() const { return mean(of_corrections() ? biases.uno : biases.draft); }
};

/// Generates `comparisons` texts per generator for a prompt and judges them.
Result<void> compete(Contest& contest, std::size_t comparisons, const Continuation& opening,
                     const GenerateOptions& options, std::uint64_t seed, std::uint64_t& sample,
                     const std::vector<NamedJudge>& judges, BiasMeter& meter) {
  std::vector<double> wins(judges.size(), 0.0);
  for (std::size_t i = 0; i < comparisons; ++i) {
    std::vector<std::optional<double>> scores[2];
    for (Generator* generator : {&contest.first, &contest.second}) {
      SPECTR_TRY(const auto text,
                 generator->generate_text(opening.prompt, options, CounterRandom(seed, sample++)));
      if (i == 0) SPECTR_TRY_VOID(meter.add(opening.prompt, text, contest.epsilon, contest.biases));
      for (const NamedJudge& judge : judges) {
        SPECTR_TRY(const auto score, judge.score({opening.prompt, text, opening.reference}));
        scores[generator == &contest.second].push_back(score);
      }
    }
    for (std::size_t j = 0; j < judges.size(); ++j) {
      const auto &first = scores[0][j], &second = scores[1][j];
      const bool judged = first && second && *first != *second;
      wins[j] += !judged ? 0.5 : *first > *second ? 1.0 : 0.0;
    }
  }
  contest.wins.resize(judges.size());
  for (std::size_t j = 0; j < judges.size(); ++j)
    contest.wins[j].add(wins[j] / static_cast<double>(comparisons));
  return {};
}

Result<std::vector<Contest>> contests(const StoryModels& models) {
  std::vector<Contest> all;
  const auto add_corrections = [&](double epsilon) -> Result<void> {
    SPECTR_TRY(Generator opt, Generator::make("biased-opt", epsilon, models.target(), &models.draft()));
    SPECTR_TRY(Generator uno, Generator::make("biased-uno", epsilon, models.target(), &models.draft()));
    all.push_back({"opt-uno", epsilon, std::move(opt), std::move(uno)});
    return {};
  };
  for (const double epsilon : epsilons) SPECTR_TRY_VOID(add_corrections(epsilon));
  SPECTR_TRY(Generator target, Generator::make("plain", 0.0, models.target(), nullptr));
  SPECTR_TRY(Generator draft, Generator::make("plain", 0.0, models.draft(), nullptr));
  all.push_back({"target-draft", 0.0, std::move(target), std::move(draft)});
  for (const double epsilon : more_epsilons) {
    SPECTR_TRY_VOID(add_corrections(epsilon));
    all.back().is_added = true;
  }
  return all;
}

Figure figure_of(const DataTable& data, std::size_t prompts, std::size_t comparisons) {
  const auto rows = data.where({{"contest", "opt-uno"}, {"judge", "target"}});
  const std::size_t large = data.where({{"contest", "target-draft"}, {"judge", "target"}}).front();
  const auto curve = [&](const char* y, const char* low = "", const char* high = "") {
    std::vector<Point> all = points(data, rows, "epsilon", y, low, high);
    std::ranges::sort(all, {}, &Point::x);
    return all;
  };
  const auto level = [&](double y) { return std::vector<Point>{{0.0, y, y, y}, {0.9, y, y, y}}; };
  const Axis epsilon{.label = "over-acceptance ε", .from = 0.0, .to = 0.9};
  return {fmt::format("OPT against UNO on {} story openings, {} comparisons each", prompts, comparisons),
          {{"win rate by the target's likelihood; bars of 95 %",
            epsilon,
            {.label = "share of wins", .from = 0.3, .to = 1.0},
            {{"OPT over UNO", Style::bars, 0, curve("win_rate", "low", "high")},
             {"target over draft", Style::line, 2, level(data.number(large, "win_rate"))},
             {"a coin", Style::dashes, 7, level(0.5)}},
            "at graph 0.98, graph 0.9"},
           {"mean per-token TV over sampled texts",
            epsilon,
            {.label = "TV from the target's law", .from = 0.0},
            {{"OPT", Style::joined, 0, curve("tv_first")}, {"UNO", Style::joined, 1, curve("tv_second")}}},
           {"what it buys",
            epsilon,
            {.label = "tokens per call of the target", .from = 1.0, .to = draft_length + 1.2},
            {{"OPT", Style::joined, 0, curve("tokens_per_call_first")},
             {"UNO", Style::joined, 1, curve("tokens_per_call_second")}}}}};
}

}  // namespace

Result<Report> opt_vs_uno(const Context& context) {
  SPECTR_TRY(const StoryModels models, load_stories(context));
  SPECTR_TRY(std::vector<Contest> all, contests(models));
  SPECTR_TRY(const std::vector<NamedJudge> judges, judges_of(models, context.stories));
  SPECTR_TRY(BiasMeter meter, BiasMeter::make(models));
  const std::vector<std::string>& stories = context.stories.prompts;
  const std::size_t prompts = std::min(context.runs_or(200, 3), stories.size());
  const std::size_t comparisons = context.quick ? 1 : context.comparisons;
  const GenerateOptions options{.limit = context.quick ? 12UL : 32UL,
                                .ends = models.tokenizer().vocabulary().ends()};
  std::uint64_t sample = 0, sample_of_more = first_of_more;
  for (std::size_t i = 0; i < prompts; ++i) {
    const std::vector<Token> prompt = models.tokenizer().encode(stories[i]);
    for (Contest& contest : all) {
      const std::string_view reference =
          i < context.stories.references.size() ? context.stories.references[i] : std::string_view();
      SPECTR_TRY_VOID(compete(contest, comparisons, {prompt, {}, reference}, options, context.seed,
                              contest.is_added ? sample_of_more : sample, judges, meter));
    }
    context.progress(i + 1, prompts);
  }

  DataTable data({"contest", "judge", "epsilon", "prompts", "comparisons", "win_rate", "low", "high",
                  "won_first", "won_second", "tv_first", "tv_second", "tokens_per_call_first",
                  "tokens_per_call_second"});
  std::vector<Line> summary;
  for (const Contest& c : all) {
    const double all_prompts = static_cast<double>(prompts);
    const std::string who =
        c.of_corrections() ? fmt::format("ε = {}: OPT over UNO", c.epsilon) : "target alone over draft alone";
    for (std::size_t j = 0; j < judges.size(); ++j) {
      const Wins& wins = c.wins[j];
      const double mean = wins.share.mean(), band = wins.share.band();
      data.add({c.name, judges[j].name, c.epsilon, all_prompts, static_cast<double>(comparisons), mean,
                mean - band, mean + band, wins.prompts_won / all_prompts, wins.prompts_lost / all_prompts,
                c.first_bias(), c.second_bias(), c.first.tokens_per_call(), c.second.tokens_per_call()});
      summary.push_back({fmt::format("{}, share won by {}", who, judges[j].name),
                         fmt::format("{:.3f} ± {:.3f}", mean, band)});
      const std::string paper =
          c.of_corrections() ? printed_of(c.epsilon) : fmt::format("{}; {}", printed_target, printed_draft);
      summary.push_back({"… prompts won and lost by most comparisons, % (two judges in the paper)",
                         fmt::format("{:.1f}, {:.1f}", 100.0 * wins.prompts_won / all_prompts,
                                     100.0 * wins.prompts_lost / all_prompts),
                         j == 0 ? paper : "-"});
    }
    summary.push_back({c.of_corrections() ? "… mean TV per token, OPT and UNO" : "… mean TV per token",
                       fmt::format("{:.4f}, {:.4f}", c.first_bias(), c.second_bias())});
  }
  Figure figure = figure_of(data, prompts, comparisons);
  return Report{std::move(data), std::move(figure), std::move(summary)};
}

}  // namespace spectr::lab
