#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/decode/beam_search.h"
#include "spectr/decode/costs/cost_model.h"
#include "spectr/decode/decoder.h"
#include "spectr/decode/suffix_automaton.h"
#include "spectr/sampling/warp.h"

namespace spectr {

/// The settings of all methods; each method reads only its own.
struct MethodOptions {
  std::optional<std::string> plan = {};  ///< nullopt: the method's default
  std::size_t drafts = 4;                ///< K, draft sequences per block
  std::size_t length = 4;                ///< L, tokens per draft sequence
  std::vector<std::size_t> tree = {};    ///< factors k₁, k₂, … of a prefix tree; empty: K draft sequences
  std::size_t trunk = 0;  ///< tokens that the K sequences share before they branch, < L; L includes them
  bool look = false;      ///< conditional verifies children in the most promising order, not as drawn
  double epsilon = 0.0;   ///< over-acceptance of the biased methods; negative values under-accept
  int rounds = 1;         ///< number of linear programs that plan str+ solves in sequence, ≥ 1
  double tau = 0.1;       ///< MTAD's threshold, 0 ≤ τ ≤ 1
  std::size_t beams = 8;  ///< W of MTAD and MTJD
  BeamMode beam_mode = BeamMode::draw;
  BeamWarp beam_warp = BeamWarp::token;
  std::size_t verified_beams = 1;        ///< K of MTAD, at most W: beams that are verified as one tree
  JointLaw joint = JointLaw::warped;     ///< distributions by which MTAD compares joint likelihoods
  std::vector<std::size_t> gammas = {};  ///< γ₁, γ₂, …: lengths of MTJD's blocks, used cyclically; empty: L
  double bild_fallback = 0.9;  ///< τ₁: drafting continues while the largest probability is at least this
  double bild_rollback = 2.0;  ///< τ₂: the target rolls back tokens whose −ln q exceeds it
  std::size_t ngram = 3;       ///< N, the maximum length of n-grams
  double suffix_reach = 0.1;   ///< minimum estimated probability of tokens drafted by suffix
  std::shared_ptr<const SuffixAutomaton> corpus =
      {};                                   ///< text whose continuations suffix also drafts; may be null
  std::shared_ptr<const Costs> costs = {};  ///< costs of passes, required by method auto
};

/// The settings that only some methods read.
enum class Setting {
  tree,
  trunk,
  look,
  epsilon,
  rounds,
  tau,
  beams,
  beam_mode,
  beam_warp,
  joint,
  gammas,
  bild_fallback,
  bild_rollback,
  ngram,
  suffix_reach,
  costs
};

/// A row of the table of methods: a drafter and a verifier.
struct MethodRule {
  std::string_view name;
  std::string_view summary;
  bool lossless;  ///< the output has exactly the target's distribution, unless a biased plan is chosen
  DraftModels models;
  std::string_view plan;  ///< the default plan; empty if the method has no choice of plans
  Result<Decoder> (*build)(const MethodOptions& options);  ///< requires complete options: see make_decoder
  std::span<const Setting> settings = {};                  ///< the settings that it reads

  bool reads(Setting setting) const;
};

/// Returns all methods, in the order of the documentation.
std::span<const MethodRule> method_rules();

/// Returns the method with this name, or an error that lists the names.
Result<const MethodRule*> find_method(std::string_view name);

/// Returns true if the output has exactly the target's distribution with the plan that the options choose.
bool is_lossless(const MethodRule& method, const MethodOptions& options);

/// Returns the names of the settings, such as "beam-mode", that are not at their defaults although neither
/// the method nor its plan reads them.
std::vector<std::string> unread_settings(const MethodRule& method, const MethodOptions& options);

/// Fails if an option is out of range or not supported by the method. Limits of a plan are checked only by
/// make_decoder().
Result<void> check_options(const MethodRule& method, const MethodOptions& options);

/// Fails if the plan does not support as many drafts of a token as the filters can leave, for this
/// vocabulary: otm-lp has a maximum number of tuples, and a completion must not fail midway.
Result<void> check_tuples(const MethodRule& method, const MethodOptions& options, const WarpOptions& filters,
                          std::size_t vocabulary);

/// Creates the decoder of a method. Fails if an option is out of range or not supported by the method.
Result<Decoder> make_decoder(const MethodRule& method, const MethodOptions& options);

/// A requested method and its settings; missing values are filled in.
struct MethodRequest {
  std::optional<std::string> method = {};
  std::optional<std::size_t> drafts = {};  ///< K
  std::optional<std::size_t> length = {};  ///< L
  /// The number of sequences that share every pass, which affects the cost of a drafted row. Nullopt: a
  /// single sequence, or already included in the costs.
  std::optional<std::size_t> load = {};
  bool auto_trunk = false;    ///< the trunk is also chosen automatically
  MethodOptions others = {};  ///< all other settings; its K and L are ignored

  /// Returns the method: the first of these that applies. Fails if there is no method with this name.
  ///
  /// 1. the named method;
  ///
  /// 2. `tree`, if the factors of a tree are given;
  ///
  /// 3. `spectr`, or `specinfer` with several draft models, if a plan or K is given; with a draft model also
  /// if L is given or costs are not known. Without a draft model L is ignored, because it is often set for
  /// all runs;
  ///
  /// 4. `auto` with a draft model, `plain` without.
  Result<const MethodRule*> rule(std::size_t draft_models, bool costs_known = true) const;

  /// Returns all settings, with the defaults for K and L if they are not given; MTAD's default K is 1.
  MethodOptions settings(std::size_t default_drafts = 4, std::size_t default_length = 4) const;
};

}  // namespace spectr
