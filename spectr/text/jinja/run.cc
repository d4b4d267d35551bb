#include "spectr/text/jinja/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

namespace spectr::jinja {

const Value* Run::find(const std::string& name) const {
  for (const auto& scope : scopes_ | std::views::reverse) {
    if (const auto found = scope.find(name); found != scope.end()) return &found->second;
  }
  return nullptr;
}

Run::Call::Call(Run& run) : run_(run) {
  if (++run.calls_ > run.limits_.calls) {
    throw TemplateError(fmt::format("more than {} macros call each other", run.limits_.calls));
  }
  inner_.assign(std::make_move_iterator(run.scopes_.begin() + 1), std::make_move_iterator(run.scopes_.end()));
  run.scopes_.resize(1);
  run.scopes_.emplace_back();
}

Run::Call::~Call() {
  --run_.calls_;
  run_.scopes_.resize(1);
  std::ranges::move(inner_, std::back_inserter(run_.scopes_));
}

Value Run::capture(const std::function<void()>& body) {
  std::string outer = std::exchange(output_, {});
  body();
  return made(std::exchange(output_, std::move(outer)));
}

void Run::print(std::string_view text) {
  output_ += text;
  if (output_.size() > limits_.output) {
    throw TemplateError(fmt::format("the output has more than {} bytes", limits_.output));
  }
}

void Run::step() {
  if (++steps_ > limits_.steps) throw TemplateError(fmt::format("more than {} steps", limits_.steps));
}

Run::Node::Node(Run& run) : run_(run) {
  run.step();
  if (++run.depth_ > run.limits_.depth) {
    throw TemplateError(fmt::format("more than {} nodes within each other", run.limits_.depth));
  }
}

void Run::charge(std::size_t bytes) {
  bytes_ += bytes;
  if (bytes_ > limits_.bytes) throw TemplateError(fmt::format("more than {} bytes of values", limits_.bytes));
}

void Run::charge_search(const Dict& dict, std::string_view name) {
  const auto as_long = [name](const auto& member) { return member.first.size() == name.size(); };
  const auto compared = static_cast<std::size_t>(std::ranges::count_if(dict.members, as_long));
  charge(dict.members.size() + compared * name.size());
}

const Value* Run::member(const Dict& dict, std::string_view name) {
  charge_search(dict, name);
  return dict.find(name);
}

void Run::set_member(Dict& dict, std::string_view name, Value value) {
  charge_search(dict, name);
  dict.set(name, std::move(value));
}

Value Run::made(Value value) {
  walk(value);
  return value;
}

}  // namespace spectr::jinja
