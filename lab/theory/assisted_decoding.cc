#include "lab/theory/assisted_decoding.h"

#include <algorithm>
#include <cmath>

#include "lab/theory/beam_drafts.h"
#include "lab/theory/joint_decoding.h"
#include "spectr/base/enumerator.h"
#include "spectr/decode/methods.h"

namespace spectr::lab {

double Assisted::beam_error() const {
  return likeliest_draft_log_p < 0.0 ? 1.0 - drafted_log_p / likeliest_draft_log_p : 0.0;
}

double Assisted::prefix_error() const {
  const double log_p = cross_entropy - tokens_per_call * log_perplexity_p;  // of the prefixes, per block
  return likeliest_log_p < 0.0 ? 1.0 - log_p / likeliest_log_p : 0.0;
}

Result<Assisted> assisted_decoding(const MarkovPair& pair, const AssistedOptions& options) {
  const std::size_t T = pair.horizon(), V = pair.states();
  SPECTR_TRY(const MethodRule* rule, find_method("mtad"));
  SPECTR_TRY(Decoder decoder, make_decoder(*rule, {.length = options.length,
                                                   .tau = options.tau,
                                                   .beams = options.beams,
                                                   .beam_mode = BeamMode::top}));
  OwnedModels models = pair.start(decoder.max_nodes(T));
  BeamDrafts drafts(pair, options.beams, options.length);
  const LikeliestBlocks target(
      pair, [&](std::size_t n, std::size_t x) { return pair.q(n, x); }, std::min(T, options.length + 1));

  Assisted sums{};
  double calls = 0.0, full_blocks = 0.0;
  std::vector<std::vector<double>> reached(T + 1,
                                           std::vector(V, 0.0));  // P(a block starts after n tokens, x)
  reached[0].assign(V, 1.0 / static_cast<double>(V));
  for (std::size_t n = 0; n < T; ++n) {
    std::vector<Token> text(n + 1, 0);
    for (std::size_t x = 0; x < V; ++x) {
      if (reached[n][x] == 0.0) continue;
      text.back() = static_cast<Token>(x);
      SPECTR_TRY(const auto draft, drafts.after(n, x));
      sums.drafted_log_p += reached[n][x] * draft.draft;
      sums.likeliest_draft_log_p += reached[n][x] * draft.likeliest;
      Enumerator choices;
      do {
        SPECTR_TRY(const Block block, decoder.step({text, T - n, n, {}}, models, choices));
        const double mass = reached[n][x] * choices.probability();
        calls += mass;
        if (T - n > options.length) {
          full_blocks += mass;
          sums.tokens_per_full_block += mass * static_cast<double>(block.tokens.size());
        }
        sums.likeliest_log_p += mass * drafts.likeliest().log_likelihood(block.accepted, n, x);
        sums.likeliest_log_q += mass * target.log_likelihood(block.tokens.size(), n, x);
        sums.accepted_per_call += mass * static_cast<double>(block.accepted);
        std::size_t last = x;
        for (std::size_t i = 0; i < block.tokens.size(); ++i) {
          const auto y = static_cast<std::size_t>(block.tokens[i]);
          const double log_p = mass * std::log(pair.p(n + i, last)[y]);
          const double log_q = mass * std::log(pair.q(n + i, last)[y]);
          sums.log_perplexity_p -= log_p;
          sums.log_perplexity_q -= log_q;
          if (i >= block.accepted) {
            sums.cross_entropy -= log_p;
            sums.own_entropy -= log_q;
          }
          last = y;
        }
        reached[n + block.tokens.size()][last] += mass;
      } while (choices.next());
    }
  }
  const auto tokens = static_cast<double>(T);
  return Assisted{.tokens_per_call = tokens / calls,
                  .tokens_per_full_block = full_blocks > 0.0 ? sums.tokens_per_full_block / full_blocks : 0.0,
                  .accepted_per_call = sums.accepted_per_call / calls,
                  .log_perplexity_q = sums.log_perplexity_q / tokens,
                  .log_perplexity_p = sums.log_perplexity_p / tokens,
                  .drafted_log_p = sums.drafted_log_p / calls,
                  .likeliest_draft_log_p = sums.likeliest_draft_log_p / calls,
                  .likeliest_log_p = sums.likeliest_log_p / calls,
                  .likeliest_log_q = sums.likeliest_log_q / calls,
                  .cross_entropy = sums.cross_entropy / calls,
                  .own_entropy = sums.own_entropy / calls};
}

double entropy_per_token(const MarkovPair& pair) {
  const std::size_t V = pair.states();
  double sum = 0.0;
  std::vector<double> distribution(V, 1.0 / static_cast<double>(V));
  for (std::size_t n = 0; n < pair.horizon(); ++n) {
    std::vector<double> next(V, 0.0);
    for (std::size_t x = 0; x < V; ++x) {
      const auto q = pair.q(n, x);
      for (std::size_t y = 0; y < V; ++y) {
        if (q[y] > 0.0) sum -= distribution[x] * q[y] * std::log(q[y]);
        next[y] += distribution[x] * q[y];
      }
    }
    distribution = std::move(next);
  }
  return sum / static_cast<double>(pair.horizon());
}

double largest_log_ratio(const MarkovPair& pair) {
  double max = 0.0;
  for (std::size_t n = 0; n < pair.horizon(); ++n) {
    for (std::size_t x = 0; x < pair.states(); ++x) {
      const auto p = pair.p(n, x), q = pair.q(n, x);
      for (std::size_t y = 0; y < p.size(); ++y) {
        if (p[y] != q[y]) max = std::max(max, std::abs(std::log(p[y]) - std::log(q[y])));
      }
    }
  }
  return max;
}

double log_perplexity_p_bound(const Assisted& a, double beam_error) {
  return (-(1.0 - beam_error) * a.likeliest_log_p + a.cross_entropy) / a.tokens_per_call;
}

double log_ratio_bound(double tau, double tokens_per_call) {
  return -std::log(tau) / tokens_per_call;
}

double log_loss_bound(double tau, double tokens_per_call, double beam_error, double entropy, double U) {
  const double e = beam_error * tokens_per_call;
  return (-std::log(tau) + (1.0 - e) * entropy + (1.0 + tokens_per_call - e) * U) / tokens_per_call;
}

double log_perplexity_bound(const Assisted& a, double tau, double U) {
  const double g = a.tokens_per_call, accepted = a.accepted_per_call / g;
  return (1.0 - a.prefix_error()) * (a.joint_log_perplexity() + accepted * U) +
         (a.own_entropy - std::log(tau)) / g;
}

double tokens_per_call_bound(double tau, std::size_t length, double U) {
  return std::min(static_cast<double>(length + 1), std::abs(std::log(tau)) / U);
}

}  // namespace spectr::lab
