#pragma once

#include "lab/experiment.h"

namespace spectr::lab {

/// Values of Yin et al. for a Markov pair whose generator is not published: 7 states, T = 50.
inline constexpr const char* paper_rejections = "16.41 (another pair)";
inline constexpr const char* paper_acceleration = "3.05 (another pair)";  // 50/16.41

// One function per experiment; the table in lab/experiment.cc describes them.
Result<Report> plan_acceptance(const Context& context);
Result<Report> spectr_bernoulli(const Context& context);
Result<Report> spectr_uniform(const Context& context);
Result<Report> spectr_recursive(const Context& context);
Result<Report> spectr_naive(const Context& context);
Result<Report> spectr_bounds(const Context& context);
Result<Report> spectr_tree(const Context& context);
Result<Report> spectrpp_5(const Context& context);
Result<Report> spectrpp_10(const Context& context);
Result<Report> spectrpp_subsets(const Context& context);
Result<Report> spectrpp_cost(const Context& context);
Result<Report> rejections(const Context& context);
Result<Report> rejections_batch(const Context& context);
Result<Report> rejections_scaling(const Context& context);
Result<Report> rejections_100(const Context& context);
Result<Report> batch_improvement(const Context& context);
Result<Report> lower_bound(const Context& context);
Result<Report> pareto(const Context& context);
Result<Report> pareto_markov(const Context& context);
Result<Report> opt_vs_uno(const Context& context);
Result<Report> mtad_bounds(const Context& context);
Result<Report> mtjd_length(const Context& context);
Result<Report> mtad_counterexamples(const Context& context);
Result<Report> verification(const Context& context);
Result<Report> verification_counterexamples(const Context& context);

}  // namespace spectr::lab
