#include "apps/cli/commands/plan_command.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "apps/bench/passes/call_times.h"
#include "apps/bench/passes/laws.h"
#include "apps/cli/commands/commands.h"
#include "apps/cli/commands/plan_input.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/text_input.h"
#include "apps/cli/report/output.h"
#include "apps/support/json_input.h"
#include "spectr/base/counter_random.h"
#include "spectr/base/names.h"
#include "spectr/transport/plan.h"
#include "spectr/transport/plans.h"

namespace spectr::cli {
namespace {

constexpr double max_tuples = 200'000;
constexpr double max_steps = 5e8;  // takes minutes
constexpr double tokens_in_a_step = 100;

Json to_json(const Distribution& distribution) {
  Json all = Json::array();
  for (std::size_t x = 0; x < distribution.vocabulary(); ++x)
    all.push_back(distribution[static_cast<Token>(x)]);
  return all;
}

Json to_json(const PlanParameters& parameters) {
  Json all = Json::object();
  for (const auto& [name, value] : parameters) {
    std::visit([&, &key = name](const auto& v) { all[key] = v; }, value);
  }
  return all;
}

// The answer to a line, without its id.
using Answer = Result<Json>;

// Answers every non-blank line with answer(line, line number).
template <class Answering>
Status answer_lines(std::istream& in, std::ostream& out, Answering answering) {
  Status status = Status::done;
  std::string text;
  for (std::uint64_t number = 0; std::getline(in, text); ++number) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    Json reply = {{"id", nullptr}};
    const auto line = parse_json(text);
    if (line && line->is_object() && line->contains("id")) reply["id"] = Json((*line)["id"]);
    const Answer answer =
        line ? answering(*line, number) : Answer(error("line {} {}", number + 1, line.error().message));
    if (answer) {
      reply.update(*answer);
    } else {
      reply["error"] = answer.error().message;
      status = Status::usage;
    }
    out << text_of(reply) << '\n' << std::flush;
  }
  return status;
}

Result<std::unique_ptr<TransportPlan>> build(const PlanRule& rule, const PlanProblem& problem,
                                             const PlanFlags& flags) {
  return rule.build(problem.drafts(), problem.q, flags.options());
}

Answer evaluate(const PlanRule& rule, const JsonInput& line, const PlanFlags& flags) {
  SPECTR_TRY(const PlanProblem problem, read_problem(line));
  SPECTR_TRY(const std::unique_ptr<TransportPlan> plan, build(rule, problem, flags));
  const std::size_t vocabulary = problem.q.vocabulary();
  const double tuples = std::pow(static_cast<double>(vocabulary), static_cast<double>(problem.k));
  const auto residual = plan->residual();
  // Each tuple can end in each token of the residual, which plans without replacement recompute per token.
  const bool anew = rule.drafting == Drafting::without_replacement;
  const auto tokens = static_cast<double>(vocabulary);
  const double steps = tuples * tokens * (anew ? std::max(tokens / tokens_in_a_step, 1.0) : 1.0);
  return Json{
      {"plan", rule.name},
      {"k", problem.k},
      {"acceptance", plan->acceptance()},
      {"law",
       tuples > max_tuples || steps > max_steps ? Json() : Json(enumerate_distribution(*plan, vocabulary))},
      {"residual", residual ? to_json(*residual) : Json()},
      {"parameters", to_json(plan->parameters())}};
}

Answer sample(const PlanRule& rule, const JsonInput& line, const PlanSampleFlags& flags,
              std::uint64_t number) {
  SPECTR_TRY(const PlanProblem problem, read_problem(line));
  SPECTR_TRY(const std::unique_ptr<TransportPlan> plan, build(rule, problem, flags));
  std::vector<std::uint64_t> counts(problem.q.vocabulary(), 0);
  std::vector<Token> drafts(plan->drafts());
  std::uint64_t accepted = 0;
  for (std::uint64_t n = 0; n < flags.draws; ++n) {
    CounterRandom random(flags.seed, n);
    random.enter({.block = number, .purpose = Purpose::draft});
    plan->draw(drafts, random);
    random.enter({.block = number, .purpose = Purpose::select});
    const Selection y = plan->select(drafts, random);
    ++counts[static_cast<std::size_t>(y.token)];
    accepted += y.accepted;
  }
  return Json{{"plan", rule.name},
              {"k", problem.k},
              {"draws", flags.draws},
              {"accepted", accepted},
              {"counts", counts}};
}

Json time_builds(const PlanRule& rule, const bench::Distributions& laws, const PlanTimeFlags& flags) {
  const DraftDistributions drafts(laws.p, static_cast<std::size_t>(flags.drafts));
  Json reply = {
      {"plan", rule.name}, {"vocab", laws.p.vocabulary()}, {"k", flags.drafts}, {"laws", flags.laws}};
  const auto build = [&] { return rule.build(drafts, laws.q, flags.options()); };
  if (const auto plan = build(); !plan) {
    reply["error"] = plan.error().message;
    return reply;
  }
  const bench::CallTimes times = bench::time_calls(0.3, build);
  reply["microseconds"] = times.median_microseconds;
  reply["builds"] = times.calls;
  return reply;
}

}  // namespace

Status run_plan_eval(std::istream& in, std::ostream& out, const PlanFlags& flags) {
  const PlanRule& rule = *need(find_plan(flags.plan));
  return answer_lines(in, out,
                      [&](const JsonInput& line, std::uint64_t) { return evaluate(rule, line, flags); });
}

Status run_plan_sample(std::istream& in, std::ostream& out, const PlanSampleFlags& flags) {
  const PlanRule& rule = *need(find_plan(flags.plan));
  return answer_lines(in, out, [&](const JsonInput& line, std::uint64_t number) {
    return sample(rule, line, flags, number);
  });
}

Status run_plan_time(std::ostream& out, const PlanTimeFlags& flags) {
  std::vector<const PlanRule*> rules;
  if (!flags.plan.empty()) {
    rules.push_back(need(find_plan(flags.plan)));
  } else {
    for (const PlanRule& rule : plan_rules()) rules.push_back(&rule);
  }
  const bench::LawKind& kind = *need(find_named(bench::law_kinds, "law kind", flags.laws));
  const bench::Distributions laws = kind.make(static_cast<std::size_t>(flags.vocabulary), flags.seed);
  Status status = Status::done;
  for (const PlanRule* rule : rules) {
    const Json reply = time_builds(*rule, laws, flags);
    if (reply.contains("error") && !flags.plan.empty()) status = Status::usage;
    out << reply.dump() << '\n' << std::flush;
  }
  return status;
}

void add_plan(CLI::App& app) {
  CLI::App& plan = *app.add_subcommand("plan", "Transport plans alone: exact laws, samples, build times");
  plan.require_subcommand(1);
  const auto finish = [](Status status) {
    check_standard_input();
    if (status != Status::done) throw Failure(status, "not every line could be answered; see its \"error\"");
  };
  const auto note_unused = [](const CLI::App& command, const std::string& name) {
    if (name.empty()) return;
    const PlanRule& rule = *need(find_plan(name));
    const auto note = [&](const char* flag, bool read) {
      if (command.count(flag) == 0 || read) return;
      fmt::print(stderr, "{} is not used: plan {} does not read it\n", flag, name);
    };
    note("--epsilon", !rule.lossless);
    note("--rounds", rule.reads_rounds);
  };
  const std::string names = names_of(plan_rules(), ", ");
  const auto add_flags = [&names](CLI::App& command, PlanFlags& flags) {
    command
        .add_option("--epsilon", flags.epsilon,
                    "over-acceptance of the biased plans; below 0 they accept too little")
        ->transform(real())
        ->capture_default_str();
    command.add_option("--rounds", flags.rounds, "rounds of str+, each a linear program")
        ->transform(whole(1, 1'000'000))
        ->capture_default_str();
    command.add_flag("--json")->description("changes nothing: the output is JSON");
    return command.add_option("--plan", flags.plan, "one of " + names);
  };

  auto eval = std::make_shared<PlanFlags>();
  CLI::App& eval_command = *plan.add_subcommand(
      "eval",
      "For every line {id, p, q, k} on stdin: acceptance, exact law, residual and parameters of the plan;\n"
      "acceptance is null where recursive-wor would take too many terms to compute it");
  add_flags(eval_command, *eval)->required();
  eval_command.callback([eval, &eval_command, note_unused, finish] {
    note_unused(eval_command, eval->plan);
    finish(run_plan_eval(std::cin, std::cout, *eval));
  });

  auto sample = std::make_shared<PlanSampleFlags>();
  CLI::App& sample_command =
      *plan.add_subcommand("sample", "For every line {id, p, q, k} on stdin: counts of the tokens drawn");
  add_flags(sample_command, *sample)->required();
  sample_command.add_option("--draws", sample->draws, "draws per line")
      ->transform(whole(0))
      ->capture_default_str();
  sample_command.add_option("--seed", sample->seed, "of the draws")
      ->transform(whole(0))
      ->capture_default_str();
  sample_command.callback([sample, &sample_command, note_unused, finish] {
    note_unused(sample_command, sample->plan);
    finish(run_plan_sample(std::cin, std::cout, *sample));
  });

  auto time = std::make_shared<PlanTimeFlags>();
  CLI::App& time_command =
      *plan.add_subcommand("time", "Microseconds per build for dense laws; every plan without --plan");
  add_flags(time_command, *time);
  time_command.add_option("--vocab", time->vocabulary, "tokens of the vocabulary")
      ->capture_default_str()
      ->transform(whole(1, 10'000'000));
  time_command.add_option("-k,-K", time->drafts, "drafts")->capture_default_str()->transform(whole(1, 4096));
  time_command.add_option("--laws", time->laws, "kind of laws, one of " + names_of(bench::law_kinds, ", "))
      ->capture_default_str();
  time_command.add_option("--seed", time->seed, "of the laws")
      ->transform(whole(0, std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str();
  time_command.callback([time, &time_command, note_unused, finish] {
    note_unused(time_command, time->plan);
    finish(run_plan_time(std::cout, *time));
  });
}

}  // namespace spectr::cli
