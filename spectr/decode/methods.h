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
#include "spectr/decode/costs.h"
#include "spectr/decode/decoder.h"
#include "spectr/sampling/warp.h"

namespace spectr {

/// Settings of all methods; each reads its own.
struct MethodOptions {
  std::optional<std::string> plan = {};  ///< none: the method's default
  std::size_t drafts = 4;                ///< K, sequences per block
  std::size_t length = 4;                ///< L, tokens per sequence
  std::vector<std::size_t> tree = {};  ///< factors k₁, k₂, … of a prefix tree; empty: K sequences of L tokens
  double epsilon = 0.0;                ///< over-acceptance of the biased methods, ≥ 0
  double tau = 0.1;                    ///< MTAD's threshold, 0 ≤ τ < 1
  std::size_t beams = 8;               ///< W, of MTAD and MTJD
  BeamMode beam_mode = BeamMode::draw;
  double bild_fallback =
      0.9;  ///< τ₁: the draft goes on while its likeliest token has at least this probability
  double bild_rollback = 2.0;               ///< τ₂: the target takes tokens back whose −ln q exceeds it
  std::size_t ngram = 3;                    ///< N, longest n-gram that is looked up
  std::shared_ptr<const Costs> costs = {};  ///< what passes cost, for method auto
};

/// A setting that only some methods read.
enum class Setting { tree, epsilon, tau, beams, beam_mode, bild_fallback, bild_rollback, ngram, costs };

/// One row of the table of methods: which drafter and which verifier make it.
struct MethodRule {
  std::string_view name;
  std::string_view summary;
  bool lossless;  ///< the output's law is the target's, exactly, unless a biased plan is chosen
  DraftModels models;
  std::string_view plan;  ///< the default plan; empty: the method has none to choose
  Result<Decoder> (*build)(const MethodOptions& options);  ///< of complete options: call make_decoder
  std::span<const Setting> settings = {};                  ///< that it reads

  bool reads(Setting setting) const;
};

/// Every method, in the order of the documentation.
std::span<const MethodRule> method_rules();

/// The method of that name, or an error that lists the names.
Result<const MethodRule*> find_method(std::string_view name);

/// Whether the output's law is the target's, exactly, with the plan that the options choose.
bool is_lossless(const MethodRule& method, const MethodOptions& options);

/// The names of the settings that are not at their defaults although neither the method nor its plan reads
/// them: "beam-mode".
std::vector<std::string_view> unread_settings(const MethodRule& method, const MethodOptions& options);

/// Error: an option outside its range, or one that the method cannot have; what a plan cannot do is known to
/// make_decoder only.
Result<void> check_options(const MethodRule& method, const MethodOptions& options);

/// Error: the plan cannot choose among as many drafts of a token as the filters may leave, out of so large a
/// vocabulary: otm-lp takes a limited number of tuples, and a text shall not break off in the middle.
Result<void> check_tuples(const MethodRule& method, const MethodOptions& options, const WarpOptions& filters,
                          std::size_t vocabulary);

/// The decoder of a method. Error: an option outside its range, or one that the method cannot have.
Result<Decoder> make_decoder(const MethodRule& method, const MethodOptions& options);

}  // namespace spectr
