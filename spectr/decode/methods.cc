#include "spectr/decode/methods.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/names.h"
#include "spectr/base/recycled.h"
#include "spectr/decode/auto/auto_drafter.h"
#include "spectr/decode/beam_drafter.h"
#include "spectr/decode/method_settings.h"
#include "spectr/decode/ngram.h"
#include "spectr/decode/suffix_drafter.h"
#include "spectr/decode/tree_drafter.h"
#include "spectr/decode/verify/batch_walk.h"
#include "spectr/decode/verify/block_verifier.h"
#include "spectr/decode/verify/conditional_verifier.h"
#include "spectr/decode/verify/greedy_block_verifier.h"
#include "spectr/decode/verify/membership_walk.h"
#include "spectr/decode/verify/plan_walk.h"
#include "spectr/decode/verify/traversal_verifier.h"
#include "spectr/decode/verify/verifier_by_density.h"
#include "spectr/decode/verify/verifiers.h"

namespace spectr {
namespace {

template <class Verify, class... Args>
Decoder decoder(std::unique_ptr<Drafter> drafter, Args&&... args) {
  return {std::move(drafter), std::make_unique<Verify>(std::forward<Args>(args)...)};
}

PlanOptions plan_options(const MethodOptions& o) {
  return {.epsilon = o.epsilon, .rounds = o.rounds};
}

std::unique_ptr<Drafter> sequences(std::size_t drafts, std::size_t length,
                                   Drafting how = Drafting::independent, std::size_t trunk = 0) {
  return std::make_unique<TreeDrafter>(TreeDrafter::sequences(drafts, length, trunk), how);
}

std::unique_ptr<Drafter> prefix_tree(const MethodOptions& o, Drafting how = Drafting::independent) {
  return std::make_unique<TreeDrafter>(RecycledVector<std::size_t>(o.tree.begin(), o.tree.end()), how);
}

/// Returns a drafter of K draft sequences of L tokens, or of the prefix tree if one is given.
std::unique_ptr<Drafter> tree_or_sequences(const MethodOptions& o) {
  if (!o.tree.empty()) return prefix_tree(o);
  return sequences(o.drafts, o.length, Drafting::independent, o.trunk);
}

Result<Decoder> build_plain(const MethodOptions&) {
  SPECTR_TRY(const PlanRule* rule, find_plan("maximal"));
  return decoder<PlanWalk>(std::make_unique<NoDrafter>(), *rule, PlanOptions{});
}

/// Returns a chain of L drafts with a plan for one draft.
Result<Decoder> chain(const MethodOptions& o, std::string_view plan) {
  SPECTR_TRY(const PlanRule* rule, find_plan(plan));
  return decoder<PlanWalk>(sequences(1, o.length), *rule, plan_options(o));
}

Result<Decoder> build_speculative(const MethodOptions& o) {
  return chain(o, "maximal");
}
Result<Decoder> build_biased_opt(const MethodOptions& o) {
  return chain(o, "epsilon-opt");
}
Result<Decoder> build_biased_uno(const MethodOptions& o) {
  return chain(o, "epsilon-uno");
}

/// Returns the plan of the options, which must support up to `drafts` drafts of a token.
Result<const PlanRule*> plan_for(const MethodOptions& o, std::size_t drafts) {
  SPECTR_CHECK(o.plan.has_value());
  SPECTR_TRY(const PlanRule* rule, find_plan(*o.plan));
  if (rule->max_drafts > 0 && drafts > rule->max_drafts) {
    return error("plan {} takes at most {} draft of a token, got {}", rule->name, rule->max_drafts, drafts);
  }
  return rule;
}

Result<Decoder> build_spectr(const MethodOptions& o) {
  SPECTR_TRY(const PlanRule* rule, plan_for(o, o.drafts));
  return decoder<PlanWalk>(sequences(o.drafts, o.length, rule->drafting, o.trunk), *rule, plan_options(o));
}

Result<Decoder> build_tree(const MethodOptions& o) {
  if (o.tree.empty()) return error("method tree needs the factors of its prefix tree (tree k1,k2,…)");
  // All copies of a node may survive, and each has its own children.
  std::size_t copies = 1;
  for (std::size_t factor : o.tree) copies *= factor;
  SPECTR_TRY(const PlanRule* rule, plan_for(o, copies));
  return decoder<PlanWalk>(prefix_tree(o, rule->drafting), *rule, plan_options(o));
}

Result<Decoder> build_specinfer(const MethodOptions& o) {
  SPECTR_TRY(const PlanRule* rule, plan_for(o, o.drafts));
  if (!rule->several_distributions)
    return error("plan {} does not take drafts of several models (method specinfer)", rule->name);
  return decoder<PlanWalk>(sequences(o.drafts, o.length), *rule, plan_options(o));
}

Result<Decoder> build_batch(const MethodOptions& o) {
  return decoder<BatchWalk>(sequences(o.drafts, o.length));
}
Result<Decoder> build_block(const MethodOptions& o) {
  return decoder<BlockVerifier>(sequences(1, o.length));
}
Result<Decoder> build_traversal(const MethodOptions& o) {
  return decoder<TraversalVerifier>(tree_or_sequences(o));
}
Result<Decoder> build_conditional(const MethodOptions& o) {
  return decoder<ConditionalVerifier>(tree_or_sequences(o), ConditionalVerifier::independent,
                                      o.look ? ChildOrder::look : ChildOrder::drawn);
}
Result<Decoder> build_univer(const MethodOptions& o) {
  return decoder<ConditionalVerifier>(sequences(o.drafts, o.length, Drafting::likeliest_and_one),
                                      ConditionalVerifier::likeliest);
}
Result<Decoder> build_gbv(const MethodOptions& o) {
  return decoder<GreedyBlockVerifier>(sequences(o.drafts, o.length));
}

BeamSearch beam_search(const MethodOptions& o) {
  return {o.beams, o.beam_mode, o.beam_warp};
}

Result<Decoder> build_mtad(const MethodOptions& o) {
  return decoder<JointThreshold>(
      std::make_unique<BeamDrafter>(beam_search(o), o.length, o.verified_beams, o.joint), o.tau, o.joint);
}

Result<Decoder> build_mtjd(const MethodOptions& o) {
  RecycledVector<std::size_t> lengths(o.gammas.begin(), o.gammas.end());
  if (lengths.empty()) lengths.push_back(o.length);
  return decoder<AcceptSettled>(std::make_unique<TargetBeams>(beam_search(o), std::move(lengths)));
}

Result<Decoder> build_bild(const MethodOptions& o) {
  return decoder<Rollback>(std::make_unique<ConfidentDrafter>(o.bild_fallback, o.length), o.bild_rollback);
}

Result<Decoder> build_ngram(const MethodOptions& o) {
  SPECTR_TRY(const PlanRule* rule, find_plan("maximal"));
  return decoder<PlanWalk>(std::make_unique<NgramDrafter>(o.ngram, o.length), *rule, PlanOptions{});
}

Result<Decoder> build_suffix(const MethodOptions& o) {
  return decoder<MembershipWalk>(std::make_unique<SuffixDrafter>(o.length, o.suffix_reach, o.corpus));
}

Result<Decoder> build_auto(const MethodOptions& o) {
  if (!o.costs) return error("method auto needs to know what passes cost");
  auto drafter = std::make_unique<AutoDrafter>(o.costs);
  if (o.costs->optimal_pays())
    return decoder<ConditionalVerifier>(std::move(drafter), ConditionalVerifier::independent);
  SPECTR_TRY(const PlanRule* k_seq, find_plan("k-seq"));
  return decoder<VerifierByDensity>(std::move(drafter), std::make_unique<PlanWalk>(*k_seq, PlanOptions{}),
                                    std::make_unique<ConditionalVerifier>(ConditionalVerifier::independent));
}

// To add a method, add a drafter or verifier in its own file, a builder above and one row here.
constexpr auto lossless = true, lossy = false;
constexpr auto any_number = std::numeric_limits<std::size_t>::max();
constexpr DraftModels none = {}, one = {1, 1}, several = {1, any_number}, any = {0, any_number};
constexpr Setting tree[] = {Setting::tree}, trunk[] = {Setting::trunk},
                  tree_or_trunk[] = {Setting::tree, Setting::trunk},
                  ordered_tree[] = {Setting::tree, Setting::trunk, Setting::look},
                  epsilon[] = {Setting::epsilon}, ngram[] = {Setting::ngram},
                  suffix[] = {Setting::suffix_reach}, costs[] = {Setting::costs},
                  target_beams[] = {Setting::beams, Setting::beam_mode, Setting::beam_warp, Setting::gammas},
                  draft_beams[] = {Setting::tau, Setting::beams, Setting::beam_mode, Setting::beam_warp,
                                   Setting::joint},
                  thresholds[] = {Setting::bild_fallback, Setting::bild_rollback};
constexpr auto rules = std::to_array<MethodRule>({
    {"plain", "the target alone, one token a pass", lossless, none, "", build_plain},
    {"speculative", "one chain of L drafts, maximal coupling", lossless, one, "", build_speculative},
    {"spectr", "K independent sequences of L drafts, optimal transport", lossless, one, "k-seq", build_spectr,
     trunk},
    {"tree", "a prefix tree of drafts, optimal transport", lossless, one, "k-seq", build_tree, tree},
    {"batch", "K sequences, recursive rejection of the first tokens, then one sequence", lossless, one, "",
     build_batch},
    {"specinfer", "K sequences of several draft models, recursive rejection", lossless, several, "recursive",
     build_specinfer},
    {"block", "one chain, verified as a block", lossless, one, "", build_block},
    {"traversal", "K sequences or a prefix tree, verified from the leaves to the root", lossless, one, "",
     build_traversal, tree_or_trunk},
    {"conditional",
     "K sequences or a prefix tree, each child verified given that those before it were rejected", lossless,
     one, "", build_conditional, ordered_tree},
    {"univer", "the K-1 likeliest first tokens and one draw, verified as conditional does", lossless, one, "",
     build_univer},
    {"gbv", "the best of K sequences by q/p, verified as a block", lossless, one, "", build_gbv},
    {"mtad", "the K likeliest of W beams of the draft, accepted by joint likelihood", lossy, one, "",
     build_mtad, draft_beams},
    {"mtjd", "beam search in the target, what mtad approximates", lossy, none, "", build_mtjd, target_beams},
    {"bild", "the draft goes on while it is confident, the target takes back what it finds unlikely", lossy,
     one, "", build_bild, thresholds},
    {"biased-opt", "a chain accepted epsilon too often, with the least bias", lossy, one, "",
     build_biased_opt, epsilon},
    {"biased-uno", "the same, corrected from the target's law: a baseline", lossy, one, "", build_biased_uno,
     epsilon},
    {"ngram", "free drafts from the text's own n-grams", lossless, none, "", build_ngram, ngram},
    {"suffix", "a free tree of what followed the text's ending before, in the text or a corpus", lossless,
     none, "", build_suffix, suffix},
    {"auto",
     "the drafts that pay, of any model or of the text itself, by stored costs and the acceptance so far",
     lossless, any, "", build_auto, costs},
});

// Sessions reserve memory for every node, and a pass over more nodes never pays off.
constexpr double max_draws = 1024;

/// Returns the number of draws of a tree with these factors.
double tree_draws(const std::vector<std::size_t>& factors) {
  double all = 0.0, level = 1.0;
  for (std::size_t factor : factors) all += level *= static_cast<double>(factor);
  return all;
}

/// Returns true if the method has a choice of plans, and the chosen one does not preserve the target's
/// distribution (such plans read epsilon).
bool has_biased_plan(const MethodRule& method, const MethodOptions& o) {
  if (method.plan.empty()) return false;
  const auto plan = find_plan(o.plan.value_or(std::string(method.plan)));
  return !plan.has_value() || !(*plan)->lossless;
}

/// Returns true if the plan that the options choose solves several linear programs in sequence.
bool has_rounds(const MethodRule& method, const MethodOptions& o) {
  if (method.plan.empty()) return false;
  const auto plan = find_plan(o.plan.value_or(std::string(method.plan)));
  return !plan.has_value() || (*plan)->reads_rounds;
}

Result<void> check_size(double draws) {
  if (draws <= max_draws) return {};
  return error("a block of {:.0f} drafts is too large, at most {:.0f} are allowed", draws, max_draws);
}

}  // namespace

std::span<const MethodRule> method_rules() {
  return rules;
}

Result<const MethodRule*> find_method(std::string_view name) {
  return find_named(rules, "method", name);
}

bool MethodRule::reads(Setting setting) const {
  return std::ranges::find(settings, setting) != settings.end();
}

std::vector<std::string> unread_settings(const MethodRule& method, const MethodOptions& o) {
  struct Given {
    Setting setting;
    std::string name;
  };
  std::vector<Given> changed;
  for (const MethodSetting& one : method_settings()) {
    if (one.is_changed(o)) changed.push_back({one.setting, one.flag()});
  }
  std::ranges::sort(changed, {}, &Given::setting);
  std::vector<std::string> unread;
  for (auto& [setting, name] : changed) {
    const bool is_read = method.reads(setting) ||
                         (setting == Setting::epsilon && has_biased_plan(method, o)) ||
                         (setting == Setting::rounds && has_rounds(method, o));
    if (!is_read) unread.push_back(std::move(name));
  }
  return unread;
}

bool is_lossless(const MethodRule& method, const MethodOptions& options) {
  return method.lossless && !has_biased_plan(method, options);
}

Result<void> check_options(const MethodRule& method, const MethodOptions& o) {
  if (o.drafts < 1) return error("K (draft sequences) must be at least 1, got {}", o.drafts);
  if (o.length < 1) return error("L (tokens of a draft) must be at least 1, got {}", o.length);
  if (o.plan && method.plan.empty())
    return error("method {} has no plan to choose, got {}", method.name, *o.plan);
  if (!o.tree.empty() && !method.reads(Setting::tree)) {
    std::vector<std::string_view> others;
    for (const MethodRule& rule : rules) {
      if (rule.reads(Setting::tree)) others.push_back(rule.name);
    }
    return error("method {} does not draft a prefix tree; these do: {}", method.name,
                 fmt::join(others, ", "));
  }
  if (method.reads(Setting::trunk) && o.trunk > 0) {
    if (!o.tree.empty())
      return error("a trunk of {} goes with K and L, not with the factors of a tree", o.trunk);
    if (o.trunk >= o.length) {
      return error("the trunk must be shorter than L, which includes it: got trunk {}, L {}", o.trunk,
                   o.length);
    }
  }
  if (std::ranges::count(o.tree, 0u) > 0) return error("every factor of the tree must be at least 1");
  if (!std::isfinite(o.epsilon)) return error("epsilon must be a number, got {}", o.epsilon);
  if (o.rounds < 1) return error("the number of rounds must be at least 1, got {}", o.rounds);
  if (!(o.tau >= 0.0 && o.tau <= 1.0)) return error("tau must lie in [0, 1], got {}", o.tau);
  if (o.beams < 1) return error("the number of beams must be at least 1, got {}", o.beams);
  if (std::ranges::count(o.gammas, 0u) > 0)
    return error("every length of a block (gammas) must be at least 1");
  if (!(o.bild_fallback >= 0.0 && o.bild_fallback <= 1.0)) {
    return error("the fallback threshold must lie in [0, 1], got {}", o.bild_fallback);
  }
  if (!(o.bild_rollback >= 0.0))
    return error("the rollback threshold must be at least 0, got {}", o.bild_rollback);
  if (o.ngram < 1) return error("the n-gram order must be at least 1, got {}", o.ngram);
  if (!(o.suffix_reach >= 0.0 && o.suffix_reach <= 1.0))
    return error("suffix_reach must lie in [0, 1], got {}", o.suffix_reach);
  const double draws = o.tree.empty() ? 0.0 : tree_draws(o.tree);
  for (const std::size_t length : o.gammas) SPECTR_TRY_VOID(check_size(static_cast<double>(length)));
  for (const double size :
       {draws, static_cast<double>(o.drafts), static_cast<double>(o.length), static_cast<double>(o.beams)}) {
    SPECTR_TRY_VOID(check_size(size));
  }
  return {};
}

Result<void> check_tuples(const MethodRule& method, const MethodOptions& o, const WarpOptions& filters,
                          std::size_t vocabulary) {
  const bool is_point = filters.temperature <= 0.0 && filters.dynatemp_range <= 0.0 && !filters.has_xtc();
  if (method.plan.empty() || is_point) return {};
  SPECTR_TRY(const PlanRule* plan, find_plan(o.plan.value_or(std::string(method.plan))));
  std::size_t drafts = o.drafts;
  if (!o.tree.empty())
    drafts = std::accumulate(o.tree.begin(), o.tree.end(), std::size_t{1}, std::multiplies());
  const std::size_t sides = filters.has_xtc() ? 2 : 1;  // two outcomes of XTC's coin, with top_k tokens each
  const std::size_t likely = filters.top_k > 0 ? std::min(sides * filters.top_k, vocabulary) : vocabulary;
  const double tuples = std::pow(static_cast<double>(likely), static_cast<double>(drafts));
  if (plan->max_tuples == 0.0 || tuples <= plan->max_tuples) return {};
  return error(
      "plan {} takes at most {:.0f} tuples of draft tokens, but top-k {} with {} drafts can give {:.0f}",
      plan->name, plan->max_tuples, filters.top_k, drafts, tuples);
}

Result<Decoder> make_decoder(const MethodRule& method, const MethodOptions& options) {
  SPECTR_TRY_VOID(check_options(method, options));
  MethodOptions complete = options;
  if (!complete.plan) complete.plan = method.plan;
  SPECTR_TRY(Decoder decoder, method.build(complete));
  decoder.expect(method.models);
  SPECTR_TRY_VOID(
      check_size(static_cast<double>(decoder.max_nodes(static_cast<std::size_t>(max_draws)) - 1)));
  return decoder;
}

Result<const MethodRule*> MethodRequest::rule(std::size_t draft_models, bool costs_known) const {
  if (method) return find_method(*method);
  if (!others.tree.empty()) return find_method("tree");
  const bool asks_for_drafts = others.plan || drafts || (draft_models > 0 && (length || !costs_known));
  if (asks_for_drafts) return find_method(draft_models > 1 ? "specinfer" : "spectr");
  return find_method(draft_models > 0 ? "auto" : "plain");
}

MethodOptions MethodRequest::settings(std::size_t default_drafts, std::size_t default_length) const {
  MethodOptions complete = others;
  complete.drafts = drafts.value_or(default_drafts);
  complete.verified_beams = drafts.value_or(1);
  complete.length = length.value_or(default_length);
  return complete;
}

}  // namespace spectr
