#include "apps/cli/commands/bench_methods_plan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "apps/bench/methods/column_file.h"
#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "lab/presets/presets.h"

namespace spectr::cli {
namespace {

constexpr auto speculation = "Speculation";

}  // namespace

void MethodsPlan::add(CLI::App& command) {
  auto* preset_flag = add_preset(command, name_);
  command
      .add_option("--column-file", column_file_,
                  "the settings of a file that bench tune has written, instead of a preset's or of flags")
      ->transform(file_name())
      ->excludes(preset_flag);
  repeatable(
      command.add_option("--column", column_names_,
                         "a column of the preset's table, as --list-presets shows them; L or O: the one "
                         "of every data set by its name; repeatable"));
  command
      .add_option("--relative-to", relative_to_,
                  "also tell every speed relative to this method's (default: as the preset's table)")
      ->transform(not_empty("name of the method"));
  auto* seed =
      command.add_option("-s,--seed", seed_, "of the choices")->transform(whole(0))->capture_default_str();
  auto* repeats =
      command
          .add_option("--repeats", repeats_,
                      "repetitions, with seeds one behind the other (default: the preset's, else 1)")
          ->transform(whole(1, 1000));
  add_list(command, "--seeds", seeds_, "a repetition for each of these seeds", 0)
      ->excludes(seed)
      ->excludes(repeats);
  const auto list = [&](const char* name, auto& values, const char* help) {
    return command.add_option(name, values, help)->delimiter(',')->group(speculation);
  };
  list("--method", axes_.methods, "methods, separated by commas")->capture_default_str();
  list("--plan", axes_.plans, "plans, separated by commas (default: each method's own)");
  add_list(command, "-K", axes_.drafts, "draft sequences (default: 4)", 1)->group(speculation);
  add_list(command, length_names, axes_.lengths, "tokens per draft (default: 4)", 1)->group(speculation);
  list("--tau", axes_.taus, "thresholds of mtad, in [0, 1]; 1 accepts nothing (default: 0.1)")
      ->transform(real());
  add_list(command, "--beams", axes_.beams, "beams of mtad and mtjd (default: 8)", 1)->group(speculation);
  const auto read_modes = [this](const std::vector<std::string>& names) {
    for (const std::string& name : names) axes_.beam_modes.push_back(beam_mode_of(name));
  };
  command
      .add_option_function<std::vector<std::string>>("--beam-mode", read_modes,
                                                     "draw beams, or take the top ones")
      ->delimiter(',')
      ->type_name("draw|top")
      ->group(speculation);
  list("--bild-fallback", axes_.bild_fallbacks,
       "bild drafts while its likeliest token has this probability (default: 0.9)")
      ->transform(real());
  list("--bild-rollback", axes_.bild_rollbacks,
       "bild takes tokens back whose -ln q exceeds this (default: 2)")
      ->transform(real());
  settings_.add_settings(command);
  settings_.add_cost_file(command);
  sampling_.add(command);
}

void MethodsPlan::refuse_fixed(const CLI::App& command, const std::string& by) const {
  for (const CLI::Option* option : command.get_options()) {
    const std::string& group = option->get_group();
    const bool fixed = group == "Sampling" || (group == speculation && !option->check_lname("cost-file") &&
                                               !option->check_lname("suffix-corpus"));
    if (option->count() > 0 && fixed)
      throw Failure(Status::usage, fmt::format("{} is fixed by {}", option->get_name(), by));
  }
  if (preset_ != nullptr && !preset_->ranks.empty() && (repeats_ || !seeds_.empty())) {
    throw Failure(Status::usage,
                  fmt::format("--repeats and --seeds are fixed by --preset {}: {} answers to a prompt", name_,
                              bench::ranked_answers));
  }
}

void MethodsPlan::choose(const CLI::App& command) {
  if (relative_to_) (void)need(find_method(*relative_to_));
  if (settings_.request.auto_trunk)
    throw Failure(Status::usage, "--trunk auto goes with one request: give a number");
  if (name_.empty()) {
    if (!column_names_.empty()) throw Failure(Status::usage, "--column goes with --preset");
    if (!column_file_.empty()) {
      refuse_fixed(command, "--column-file");
      given_ = need(bench::read_columns(column_file_));
    } else {
      given_ = {
          {.warp = sampling_.warp().options(), .settings = settings_.request.settings(), .axes = {axes_}}};
    }
    // After this, all method names are known to be valid.
    for (const bench::Column& column : given_) need(bench::cells_of(column, column.settings, 1));
    return;
  }
  preset_ = need(lab::find_preset(name_));
  if (preset_->passes) {
    throw Failure(Status::usage,
                  fmt::format("--preset {} measures passes: spectr bench widths --preset {}", name_, name_));
  }
  refuse_fixed(command, "--preset " + name_);
}

void MethodsPlan::check_tree() const {
  const auto has_tree = [](const bench::Column& column) { return !column.settings.tree.empty(); };
  if (preset_ != nullptr || std::ranges::none_of(given_, has_tree)) return;
  if (any_method([](const MethodRule& rule) { return rule.reads(Setting::tree); })) return;
  throw Failure(Status::usage,
                "none of the methods drafts a prefix tree; --tree goes with tree, traversal and conditional");
}

std::vector<const bench::Column*> MethodsPlan::all_columns() const {
  std::vector<const bench::Column*> all;
  for (const bench::Column& column : preset_ == nullptr ? given_ : preset_->columns) all.push_back(&column);
  return all;
}

bool MethodsPlan::wants_several_drafts() const {
  return preset_ != nullptr && preset_->column_per_draft && column_names_.empty();
}

bool MethodsPlan::column_per_draft(std::size_t draft_models) const {
  return wants_several_drafts() && draft_models == preset_->columns.size();
}

std::vector<const bench::Column*> MethodsPlan::columns(const std::string& dataset) const {
  if (preset_ == nullptr || preset_->columns.empty() || preset_->all_columns) {
    if (column_names_.empty()) return all_columns();
  }
  if (column_names_.empty()) return {&preset_->columns[preset_->usual_column]};
  std::vector<const bench::Column*> chosen;
  for (const std::string& name : column_names_) {
    const auto named = [&](const std::string& wanted) {
      return std::ranges::find(preset_->columns, wanted, &bench::Column::name);
    };
    auto found = named(name);
    if (found == preset_->columns.end()) found = named(name + "," + dataset);
    if (found == preset_->columns.end()) {
      std::vector<std::string_view> names;
      for (const bench::Column& column : preset_->columns)
        if (!column.name.empty()) names.push_back(column.name);
      throw Failure(
          Status::usage,
          names.empty()
              ? fmt::format("--column {}: --preset {} has no columns to choose from", name, preset_->name)
              : fmt::format("--column {}: there is no such column of --preset {} for the data "
                            "set {}; the columns are {}",
                            name, preset_->name, dataset, fmt::join(names, " ")));
    }
    chosen.push_back(&*found);
  }
  return chosen;
}

std::string MethodsPlan::relative_to() const {
  if (relative_to_) return *relative_to_;
  return preset_ == nullptr ? "" : std::string(preset_->relative_to);
}

std::vector<std::uint64_t> MethodsPlan::seeds() const {
  if (!seeds_.empty()) return seeds_;
  const std::size_t usual = preset_ == nullptr       ? 1
                            : preset_->ranks.empty() ? preset_->repeats
                                                     : bench::ranked_answers;
  std::vector<std::uint64_t> seeds(repeats_.value_or(usual));
  std::iota(seeds.begin(), seeds.end(), seed_);
  return seeds;
}

}  // namespace spectr::cli
