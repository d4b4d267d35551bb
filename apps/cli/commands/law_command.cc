#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "apps/cli/commands/commands.h"
#include "apps/cli/commands/pair_file.h"
#include "apps/cli/commands/rule_file.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/method_flags.h"
#include "apps/cli/flags/sampling_flags.h"
#include "apps/cli/report/output.h"
#include "spectr/decode/decoder_distribution.h"
#include "spectr/decode/tree_drafter.h"
#include "spectr/lm/block_table_model.h"
#include "spectr/lm/tabular_model.h"

namespace spectr::cli {
namespace {

struct LawFlags {
  MethodFlags method;
  SamplingFlags sampling{.options = WarpOptions::none(), .biases = {}};
  long vocabulary = 3;
  long horizon = 4;
  std::uint32_t seed = 0;
  long drafts = 1;                        // number of draft models
  std::string rule_file;                  // for method biased
  std::string pair_file;                  // replaces random tables
  std::optional<BlockRows> drafter = {};  // block drafter of tables; none: rows by step or prefix
};

/// Name of the method that applies the rules of --rule. Only `law` has it: rules are tables by context.
constexpr const char* biased = "biased";

constexpr double max_texts = 1e6;
constexpr double max_outcomes = 5e7;        // total over all start tokens
constexpr double max_block_outcomes = 1e6;  // of the first block after one start token
constexpr std::int64_t max_seed = std::numeric_limits<std::uint32_t>::max();

/// Returns costs for methods that read them: a draft pass costs a tenth of a target pass, so that drafting
/// pays even for these short sequences.
Costs assumed_costs(std::size_t draft_models) {
  const DraftCosts draft{CostCurve({{1, 0.1}, {2, 0.11}})};
  return {CostCurve({{1, 1.0}, {2, 1.1}}), std::vector(draft_models, draft), {}};
}

/// Returns the method given by --method. Throws Failure.
MethodRule chosen_method(const LawFlags& flags) {
  const bool is_biased = flags.method.request.method == biased;
  if (is_biased && flags.rule_file.empty())
    throw Failure(Status::usage, "method biased needs the file of a rule (--rule)");
  if (!is_biased && !flags.rule_file.empty())
    throw Failure(Status::usage, "--rule is that of method biased (--method biased)");
  if (const auto& name = flags.method.request.method; !is_biased && name) {
    if (const auto known = find_method(*name); !known)
      throw Failure(Status::usage, fmt::format("{}, {}", known.error().message, biased));
  }
  if (!is_biased) return flags.method.rule(static_cast<std::size_t>(flags.drafts));
  MethodRule rule = *need(find_method("speculative"));  // it also drafts a chain of length L
  rule.name = biased;
  rule.lossless = false;
  return rule;
}

/// Builds the decoder of the rules, which are ordered by step, then by last token.
Decoder biased_decoder(const std::vector<RejectionRule>& rules, std::size_t length, std::size_t vocabulary,
                       std::size_t horizon) {
  const auto after = [&rules, vocabulary, horizon](std::span<const Token> context) -> const RejectionRule& {
    const std::size_t step = std::min(context.size(), horizon) - 1;  // a sequence starts with one token
    return rules[step * vocabulary + static_cast<std::size_t>(context.back())];
  };
  Decoder decoder(std::make_unique<TreeDrafter>(TreeDrafter::sequences(1, length), Drafting::independent),
                  std::make_unique<RuleWalk>(after));
  decoder.expect({1, 1});
  return decoder;
}

/// A target, its draft models, and the number of start tokens, which are not counted in the output.
struct Tables {
  std::vector<TabularModel> random = {};  // drafts followed by the target
  std::optional<TablePair> pair = {};
  std::vector<BlockTableModel> blocks = {};  // replace the drafts if not empty
  std::size_t vocabulary, starts;

  const LanguageModel& target() const {
    return pair ? static_cast<const LanguageModel&>(pair->q) : random.back();
  }
  std::vector<const LanguageModel*> drafts(std::size_t count) const {
    std::vector<const LanguageModel*> drafts;
    for (std::size_t i = 0; i < count; ++i) {
      if (!blocks.empty()) {
        drafts.push_back(&blocks[i]);
      } else {
        drafts.push_back(pair ? static_cast<const LanguageModel*>(&pair->p) : &random[i]);
      }
    }
    return drafts;
  }
};

/// Builds the tables of random models or of the pair file. Throws Failure.
Tables tables_of(const LawFlags& flags) {
  if (!flags.pair_file.empty()) {
    Tables tables{.pair = need(read_pair(flags.pair_file)), .vocabulary = 0, .starts = 1};
    tables.vocabulary = tables.pair->q.vocabulary();
    if (flags.drafter) tables.blocks.emplace_back(tables.pair->p, *flags.drafter);
    return tables;
  }
  const auto vocabulary = static_cast<std::size_t>(flags.vocabulary);
  Tables tables{.vocabulary = vocabulary, .starts = vocabulary};
  std::mt19937 generator(flags.seed);
  for (long i = 0; i <= flags.drafts; ++i) {
    tables.random.push_back(
        TabularModel::random(vocabulary, static_cast<std::size_t>(flags.horizon), generator));
    if (flags.drafter && i < flags.drafts) tables.blocks.emplace_back(tables.random.back(), *flags.drafter);
  }
  return tables;
}

/// Throws Failure if there are too many sequences to enumerate.
void check_texts(const Tables& tables, std::size_t horizon) {
  const double texts = std::pow(static_cast<double>(tables.vocabulary), static_cast<double>(horizon));
  if (texts > max_texts) {
    throw Failure(Status::usage,
                  fmt::format("--vocab {} with --horizon {} gives {:.3g} texts, at most {:.0f} are "
                              "enumerated",
                              tables.vocabulary, horizon, texts, max_texts));
  }
  if (texts * static_cast<double>(tables.starts) > max_outcomes) {
    throw Failure(Status::usage,
                  fmt::format("--vocab {} with --horizon {} gives {:.3g} texts from {} start tokens, at most "
                              "{:.3g} are enumerated",
                              tables.vocabulary, horizon, texts * static_cast<double>(tables.starts),
                              tables.starts, max_outcomes));
  }
}

/// Returns the maximum draft length of a block.
std::size_t longest_block(const MethodRule& rule, const MethodOptions& settings) {
  std::size_t length = std::max(settings.length, settings.tree.size());
  if (rule.reads(Setting::gammas) && !settings.gammas.empty()) length = std::ranges::max(settings.gammas);
  return length;
}

/// Returns the expected number of tokens of a block in an infinite sequence, or nothing if it has too
/// many outcomes.
std::optional<double> tokens_of_block(Decoder& decoder, Models& models, std::span<const Token> start,
                                      std::size_t length) {
  const EnumerationOptions options{
      .horizon = length + 1, .markov = false, .max_outcomes = max_block_outcomes};
  if (decoder.drafter().outcomes(models.vocabulary(), options.horizon) > max_block_outcomes)
    return std::nullopt;
  const auto tokens = expected_block_tokens(decoder, models, start, options);
  return tokens ? std::optional(*tokens) : std::nullopt;
}

void print_law(const LawFlags& flags) {
  const auto draft_models = static_cast<std::size_t>(flags.drafts);
  const MethodRule rule = chosen_method(flags);
  if (draft_models < rule.models.min || draft_models > std::max<std::size_t>(rule.models.max, 1)) {
    throw Failure(Status::usage, fmt::format("method {} does not work with {} draft models (--drafts)",
                                             rule.name, flags.drafts));
  }
  if (flags.drafter && std::min(draft_models, rule.models.max) == 0) {
    throw Failure(Status::usage, fmt::format("--drafter: method {} has no draft model{}", rule.name,
                                             rule.models.max > 0 ? " here (--drafts 0)" : ""));
  }
  const Tables tables = tables_of(flags);
  const auto horizon = static_cast<std::size_t>(flags.horizon);
  check_texts(tables, horizon);
  if (flags.method.request.auto_trunk)
    throw Failure(Status::usage, "--trunk auto goes by what passes cost: give a number");
  MethodOptions settings = flags.method.request.settings(1, 2);
  check_settings(rule, flags.method.request, settings);
  if (rule.reads(Setting::costs)) settings.costs = std::make_shared<Costs>(assumed_costs(draft_models));
  std::vector<RejectionRule> rules;
  if (rule.name == biased)
    rules = need(read_rules(flags.rule_file, horizon * tables.vocabulary, tables.vocabulary));
  Decoder decoder = rule.name == biased ? biased_decoder(rules, settings.length, tables.vocabulary, horizon)
                                        : need(make_decoder(rule, settings));
  OwnedModels models =
      need(OwnedModels::start(tables.target(), tables.drafts(std::min(draft_models, rule.models.max)),
                              flags.sampling.warp(), 0, decoder.max_nodes(horizon)));

  // Start tokens are uniformly distributed and not counted.
  const auto starts = static_cast<double>(tables.starts);
  const EnumerationOptions options{
      .horizon = horizon, .markov = !tables.pair, .max_outcomes = max_outcomes / starts};
  double tv = 0.0, calls = 0.0, rejections = 0.0;
  std::optional<double> tokens = 0.0;
  for (std::size_t s = 0; s < tables.starts; ++s) {
    const Token start[] = {static_cast<Token>(s)};
    const auto found = enumerate_decoder(decoder, models, start, options);
    if (!found) {
      throw Failure(Status::usage,
                    fmt::format("from each of {} start tokens: {}", tables.starts, found.error().message));
    }
    const auto target = need(enumerate_target(models, start, options));
    const double share = 1.0 / starts;
    tv += share * total_variation(found->distribution, target);
    calls += share * found->expected_target_calls;
    rejections += share * found->expected_rejections;
    const auto block =
        tokens ? tokens_of_block(decoder, models, start, longest_block(rule, settings)) : std::nullopt;
    tokens = block ? std::optional(*tokens + share * *block) : std::nullopt;
  }
  print_json({{"tv_error", tv},
              {"expected_target_calls", calls},
              {"expected_rejections", rejections},
              {"block_efficiency", static_cast<double>(horizon) / calls},
              {"expected_tokens_per_block", tokens ? Json(*tokens) : Json(nullptr)}});
}

}  // namespace

void add_law(CLI::App& app) {
  auto flags = std::make_shared<LawFlags>();
  CLI::App& command = *app.add_subcommand(
      "law", "The exact law of a decoder on a random tabular pair, by enumeration, against the target's");
  flags->method.add(command);
  flags->sampling.add_filters(command);
  flags->sampling.add_samplers(command);
  // Environment variables apply only to commands that run models.
  for (CLI::Option* option : command.get_options()) option->envname("");
  command.add_option("--vocab", flags->vocabulary, "tokens of the vocabulary")
      ->capture_default_str()
      ->transform(whole(1, 1000));
  command.add_option("--horizon", flags->horizon, "tokens of a text")
      ->capture_default_str()
      ->transform(whole(1, 30));
  command.add_option("--seed", flags->seed, "of the MT19937 that fills the tables")
      ->transform(whole(0, max_seed))
      ->capture_default_str();
  command.add_option("--drafts", flags->drafts, "draft models")
      ->capture_default_str()
      ->transform(whole(0, 16));
  command
      .add_option(
          "--rule", flags->rule_file,
          "JSON file of a rule for one draft, for --method biased: {\"b\": [[…], …], \"P\": [[…], …]}, "
          "a row for each step and, inside, each last token, in the order in which the tables' rows are "
          "drawn; draft x is accepted with probability b[x], and replaced by a draw from P")
      ->transform(file_name());
  command
      .add_option(
          "--pair", flags->pair_file,
          "JSON file of a draft model and a target, instead of random ones: {\"vocab\": V, "
          "\"p\": {\"\": […], \"0\": […], \"0,1\": […]}, \"q\": {…}}, rows by prefix; a prefix without a "
          "row takes that of its longest suffix that has one")
      ->transform(file_name())
      ->excludes("--vocab")
      ->excludes("--drafts")
      ->excludes("--rule");
  command
      .add_option_function<std::string>(
          "--drafter",
          [flags](const std::string& name) {
            flags->drafter = name == "product" ? BlockRows::product : BlockRows::markov;
          },
          "draft as a block drafter: product draws the i-th draft of a block from the i-th row of p in the "
          "order in which rows are drawn, markov by the last token alone; with --pair from the row of the "
          "empty prefix, and from those of prefixes of one token")
      ->check(CLI::IsMember({"product", "markov"}));
  command.add_flag("--json")->description("changes nothing: the output is JSON");
  command.callback([flags] { print_law(*flags); });
}

}  // namespace spectr::cli
