#include "spectr/text/jinja/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

namespace spectr::jinja {

Run::Run(const Limits& limits, std::size_t input) : limits_(limits), scopes_(1) {
  limits_.steps += limits_.steps_per_byte * input;
  limits_.bytes += limits_.bytes_per_byte * input;
}

const Value* Run::find(const std::string& name) const {
  for (const auto& scope : scopes_ | std::views::reverse) {
    if (const auto found = scope.find(name); found != scope.end()) return &found->second;
  }
  return nullptr;
}

std::pair<Run::Scopes, int> Run::inner() {
  std::pair<Scopes, int> copy{Scopes(scopes_.begin() + 1, scopes_.end()), 0};
  auto& [scopes, closures] = copy;
  for (const auto& scope : scopes) {
    for (const auto& [name, value] : scope) {
      charge(sizeof(name));
      walk(value);
      closures = std::max(closures, value.closures());
    }
  }
  if (!scopes.empty() && ++closures > limits_.calls)
    throw TemplateError(fmt::format("more than {} macros remember each other", limits_.calls));
  return copy;
}

Run::Call::Call(Run& run, const Scopes& seen) : run_(run) {
  if (++run.calls_ > run.limits_.calls) {
    throw TemplateError(fmt::format("more than {} macros call each other", run.limits_.calls));
  }
  for (const auto& scope : seen) run.charge(scope.size() * (sizeof(Value) + sizeof(std::string)));
  inner_.assign(std::make_move_iterator(run.scopes_.begin() + 1), std::make_move_iterator(run.scopes_.end()));
  run.scopes_.resize(1);
  run.scopes_.insert(run.scopes_.end(), seen.begin(), seen.end());
  run.scopes_.emplace_back();
}

Run::Call::~Call() {
  --run_.calls_;
  run_.scopes_.resize(1);
  std::ranges::move(inner_, std::back_inserter(run_.scopes_));
}

Value Run::capture(const std::function<void()>& body) {
  MarkedText outer = std::exchange(output_, {});
  body();
  return made(std::exchange(output_, std::move(outer)));
}

void Run::print(std::string_view text) {
  output_.append(text);
  check_output();
}

void Run::print(const MarkedText& text) {
  output_.append(text);
  check_output();
}

void Run::check_output() const {
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

void Run::charge_search(const Dict& dict, const Value& key) {
  charge(dict.members.size());
  const std::string* name = key.string();
  if (name == nullptr) return;
  const auto as_long = [name](const auto& member) {
    const std::string* other = member.first.string();
    return other != nullptr && other->size() == name->size();
  };
  charge(static_cast<std::size_t>(std::ranges::count_if(dict.members, as_long)) * name->size());
}

const Value* Run::member(const Dict& dict, const Value& key) {
  charge_search(dict, key);
  return dict.find(key);
}

void Run::set_member(Dict& dict, const Value& key, Value value) {
  charge_search(dict, key);
  dict.set(key, std::move(value));
}

Value Run::made(Value value) {
  walk(value);
  return value;
}

}  // namespace spectr::jinja
