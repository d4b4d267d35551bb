#include "spectr/decode/method_settings.h"

#include <algorithm>
#include <limits>

#include "spectr/base/check.h"

namespace spectr {
namespace {

/// Makes a setting for two values of an enumeration.
template <auto member, auto first, auto second>
constexpr MethodSetting::Choice choice(std::string_view first_word, std::string_view second_word) {
  return {{first_word, second_word},
          [](const MethodOptions& options) { return static_cast<std::size_t>(options.*member == second); },
          [](MethodOptions& options, std::size_t which) { options.*member = which == 0 ? first : second; }};
}

constexpr double huge = 1e6, infinite = std::numeric_limits<double>::infinity();
constexpr MethodSetting::Range unbounded = {-infinite, infinite}, positive = {1, infinite},
                               probability = {0, 1};

using O = MethodOptions;
constexpr auto settings_table = std::to_array<MethodSetting>({
    {Setting::tree, "tree", "factors k1,k2,… of a prefix tree of drafts (tree, traversal, conditional)",
     &O::tree, positive, MethodSetting::Range{1, 64}},
    {Setting::trunk,
     "trunk",
     "tokens that the K sequences share before they branch, of their L (spectr, traversal, conditional); "
     "auto: the best by what passes cost",
     &O::trunk,
     {0, 1023},
     MethodSetting::Range{0, 63},
     &MethodRequest::auto_trunk},
    {Setting::look, "look", "conditional verifies children in the order that promises most", &O::look,
     unbounded, probability},
    {Setting::epsilon, "epsilon",
     "over-acceptance of biased-opt and biased-uno, and of plans epsilon-opt and epsilon-uno; below 0 they "
     "accept too little",
     &O::epsilon, unbounded, MethodSetting::Range{0, huge}},
    {Setting::rounds, "rounds", "rounds of plan str+, each a linear program", &O::rounds, {1, huge}},
    {Setting::beam_warp, "beam_warp",
     "filter each token's law of mtad's and mtjd's beams, or their joint law",
     choice<&O::beam_warp, BeamWarp::token, BeamWarp::joint>("token", "joint"), unbounded},
    {Setting::joint, "joint", "mtad compares joint likelihoods of the filtered laws, or the models' own",
     choice<&O::joint, JointLaw::warped, JointLaw::raw>("warped", "raw"), unbounded},
    {Setting::gammas, "gammas", "tokens of mtjd's blocks, in turn (default: L each)", &O::gammas, positive},
    {Setting::ngram, "ngram", "longest n-gram that ngram looks up", &O::ngram, positive,
     MethodSetting::Range{1, 64}},
    {Setting::suffix_reach, "suffix_reach",
     "suffix drafts tokens whose estimated probability of acceptance, with those before them, is at least "
     "this",
     &O::suffix_reach, unbounded, probability},
    {Setting::tau, "tau", "threshold of mtad, in [0, 1]; 1 accepts nothing", &O::tau, unbounded, probability},
    {Setting::beams, "beams", "beams of mtad and mtjd", &O::beams, positive, MethodSetting::Range{1, 64}},
    {Setting::beam_mode, "beam_mode", "draw beams, or take the top ones",
     choice<&O::beam_mode, BeamMode::draw, BeamMode::top>("draw", "top"), unbounded},
    {Setting::bild_fallback, "bild_fallback", "bild drafts while its likeliest token has this probability",
     &O::bild_fallback, unbounded, probability},
    {Setting::bild_rollback, "bild_rollback", "bild takes tokens back whose -ln q exceeds this",
     &O::bild_rollback, unbounded, MethodSetting::Range{0, huge}},
});

}  // namespace

std::string MethodSetting::flag() const {
  std::string flag(name);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

bool MethodSetting::is_changed(const MethodOptions& options) const {
  if (const auto* words = std::get_if<Choice>(&place)) return words->get(options) != 0;
  const MethodOptions defaults;
  return std::visit(
      [&](const auto& member) {
        if constexpr (requires { options.*member; }) return options.*member != defaults.*member;
        return false;
      },
      place);
}

std::span<const MethodSetting> method_settings() {
  return settings_table;
}

const MethodSetting& method_setting(Setting setting) {
  const auto found = std::ranges::find(settings_table, setting, &MethodSetting::setting);
  SPECTR_CHECK(found != settings_table.end());
  return *found;
}

}  // namespace spectr
