#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/decode/auto/cost_model.h"
#include "spectr/decode/beam_search.h"
#include "spectr/decode/decoder.h"
#include "spectr/decode/suffix_automaton.h"
#include "spectr/sampling/warp.h"

namespace spectr {

/// The settings of all methods; each method reads its own.
struct MethodOptions {
  std::optional<std::string> plan = {};  ///< none: the method's default
  std::size_t drafts = 4;                ///< K, draft sequences per block
  std::size_t length = 4;                ///< L, tokens per draft sequence
  std::vector<std::size_t> tree = {};    ///< factors k₁, k₂, … of a prefix tree; empty: K draft sequences
  std::size_t trunk = 0;  ///< tokens that the K sequences share before they branch, < L; L includes them
  bool look = false;      ///< conditional verifies children in the order that promises most, not as drawn
  double epsilon = 0.0;   ///< over-acceptance of the biased methods; below 0 too little
  int rounds = 1;         ///< linear programs that plan str+ solves one upon the other, ≥ 1
  double tau = 0.1;       ///< MTAD's threshold, 0 ≤ τ ≤ 1
  std::size_t beams = 8;  ///< W, of MTAD and MTJD
  BeamMode beam_mode = BeamMode::draw;
  BeamWarp beam_warp = BeamWarp::token;
  std::size_t verified_beams = 1;        ///< K of MTAD, at most W: beams that are verified as one tree
  JointLaw joint = JointLaw::warped;     ///< by what MTAD compares joint likelihoods
  std::vector<std::size_t> gammas = {};  ///< γ₁, γ₂, …, tokens of MTJD's blocks in turn; empty: L
  double bild_fallback = 0.9;  ///< τ₁: the draft goes on while its likeliest token is at least so likely
  double bild_rollback = 2.0;  ///< τ₂: the target takes tokens back whose −ln q exceeds it
  std::size_t ngram = 3;       ///< N, the longest n-gram that is looked up
  double suffix_reach = 0.1;   ///< suffix drafts tokens with at least this estimated probability
  std::shared_ptr<const SuffixAutomaton> corpus =
      {};                                   ///< whose continuations suffix drafts, too; may be null
  std::shared_ptr<const Costs> costs = {};  ///< what passes cost, which method auto needs
};

/// A setting that only some methods read.
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

/// One row of the table of methods: which drafter and which verifier make it.
struct MethodRule {
  std::string_view name;
  std::string_view summary;
  bool lossless;  ///< the output has the target's distribution, exactly, unless a biased plan is chosen
  DraftModels models;
  std::string_view plan;  ///< the default plan; empty where the method has none to choose
  Result<Decoder> (*build)(const MethodOptions& options);  ///< takes complete options: call make_decoder
  std::span<const Setting> settings = {};                  ///< the settings that it reads

  bool reads(Setting setting) const;
};

/// Every method, in the order of the documentation.
std::span<const MethodRule> method_rules();

/// The method of that name, or an error that lists the names.
Result<const MethodRule*> find_method(std::string_view name);

/// Whether the output has the target's distribution, exactly, with the plan that the options choose.
bool is_lossless(const MethodRule& method, const MethodOptions& options);

/// The names of the settings that are not at their defaults although neither the method nor its plan reads
/// them: "beam-mode".
std::vector<std::string> unread_settings(const MethodRule& method, const MethodOptions& options);

/// Error: an option outside its range, or one that the method cannot have; what a plan cannot do is known to
/// make_decoder only.
Result<void> check_options(const MethodRule& method, const MethodOptions& options);

/// Error: the plan cannot choose among as many drafts of a token as the filters may leave, out of so large a
/// vocabulary: otm-lp takes a limited number of tuples, and a completion shall not break off in the middle.
Result<void> check_tuples(const MethodRule& method, const MethodOptions& options, const WarpOptions& filters,
                          std::size_t vocabulary);

/// The decoder of a method. Error: an option outside its range, or one that the method cannot have.
Result<Decoder> make_decoder(const MethodRule& method, const MethodOptions& options);

/// A method and its settings as somebody asks for them: what was not given is filled in.
struct MethodRequest {
  std::optional<std::string> method = {};
  std::optional<std::size_t> drafts = {};  ///< K
  std::optional<std::size_t> length = {};  ///< L
  /// How many texts share every pass: what a drafted row costs depends on it. None: whoever asks is alone, or
  /// knows.
  std::optional<std::size_t> load = {};
  bool auto_trunk = false;    ///< the trunk is left open, too
  MethodOptions others = {};  ///< all other settings; its K and L do not count

  /// The method: the first of these that applies. Error: there is no method of that name.
  ///
  /// 1. the one that is named;
  ///
  /// 2. `tree`, where the factors of a tree are given;
  ///
  /// 3. `spectr`, or `specinfer` with several draft models, where a plan or K is given, and with a draft
  /// model also where L is given or costs are not known; without one L counts for nothing, as it is often
  /// set for all runs;
  ///
  /// 4. `auto` with a draft model, `plain` without.
  Result<const MethodRule*> rule(std::size_t draft_models, bool costs_known = true) const;

  /// All settings, with the defaults for K and L where they were not given; that of MTAD's K is 1.
  MethodOptions settings(std::size_t default_drafts = 4, std::size_t default_length = 4) const;
};

}  // namespace spectr
