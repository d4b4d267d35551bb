#include "spectr/decode/methods.h"

#include <fmt/ranges.h>

#include <array>
#include <memory>

#include "spectr/decode/plan_walk.h"
#include "spectr/decode/tree_drafter.h"

namespace spectr {
namespace {

// Sessions plan memory for every node, and a pass over more of them never pays.
constexpr std::size_t most_tree_nodes = 1024;

/// Draws a tree with the given factors and walks it with the plan.
Result<Decoder> walk(std::vector<std::size_t> factors, std::string_view plan) {
  SPECTR_TRY(const PlanRule* rule, find_plan(plan));
  const std::size_t depth = factors.size();
  auto drafter = std::make_unique<TreeDrafter>(std::move(factors), rule->drafting);
  if (drafter->most_nodes(depth) > most_tree_nodes) {
    return error("the draft tree would have {} nodes, at most {} are possible", drafter->most_nodes(depth),
                 most_tree_nodes);
  }
  return Decoder(std::move(drafter), std::make_unique<PlanWalk>(*rule, PlanOptions{}));
}

Result<Decoder> build_plain(const MethodOptions&) {
  SPECTR_TRY(const PlanRule* rule, find_plan("maximal"));
  return Decoder(std::make_unique<NoDrafter>(), std::make_unique<PlanWalk>(*rule, PlanOptions{}));
}

Result<Decoder> build_speculative(const MethodOptions& options) {
  return walk(TreeDrafter::sequences(1, options.length), "maximal");
}

Result<Decoder> build_spectr(const MethodOptions& options) {
  return walk(TreeDrafter::sequences(options.drafts, options.length), *options.plan);
}

constexpr std::array rules = {
    MethodRule{"plain", "the target alone, one token a pass", true, DraftModels::none, "", build_plain},
    MethodRule{"speculative", "one chain of drafts, maximal coupling", true, DraftModels::one, "",
               build_speculative},
    MethodRule{"spectr", "K independent drafts of L tokens, optimal transport", true, DraftModels::one,
               "k-seq", build_spectr},
};

}  // namespace

std::span<const MethodRule> method_rules() {
  return rules;
}

Result<const MethodRule*> find_method(std::string_view name) {
  std::vector<std::string_view> names;
  for (const MethodRule& rule : rules) {
    if (rule.name == name) return &rule;
    names.push_back(rule.name);
  }
  return error("unknown method '{}'; there are: {}", name, fmt::join(names, " "));
}

Result<Decoder> make_decoder(const MethodRule& method, const MethodOptions& options) {
  if (options.drafts < 1) return error("K (the number of drafts) must be at least 1, got {}", options.drafts);
  if (options.length < 1)
    return error("L (the length of a draft) must be at least 1, got {}", options.length);
  if (options.plan && method.plan.empty()) {
    return error("method {} has no plan to choose, got plan {}", method.name, *options.plan);
  }
  MethodOptions complete = options;
  if (!complete.plan) complete.plan = method.plan;
  return method.build(complete);
}

}  // namespace spectr
