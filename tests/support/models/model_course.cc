#include "tests/support/models/model_course.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>
#include <random>
#include <variant>

#include "spectr/base/check.h"
#include "tests/support/data.h"
#include "tests/support/value_of.h"

namespace spectr::test {

namespace fs = std::filesystem;

namespace {

std::vector<double> copy(const Logits& row) {
  return std::visit([](auto numbers) { return std::vector<double>(numbers.begin(), numbers.end()); },
                    row.values());
}

double relative_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0.0, norm = 0.0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(difference / norm);
}

}  // namespace

std::vector<fs::path> course_models() {
  std::vector<fs::path> found;
  for (const char* folder : {"tests/data/arch", "tests/data/arch2"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source_folder() / folder)) {
      if (entry.path().extension() == ".gguf") found.push_back(entry.path());
    }
  }
  std::ranges::sort(found);
  return found;
}

std::vector<std::vector<double>> course(const Transformer& model, std::size_t tokens, int blocks,
                                        NodeId nodes) {
  std::mt19937 random(1);
  const auto token = [&] { return static_cast<Token>(3 + random() % (model.vocabulary() - 3)); };
  std::vector<Token> text;
  while (text.size() < tokens) text.push_back(token());
  const auto session = model.start(0, static_cast<std::size_t>(nodes)).value();
  std::vector<std::vector<double>> rows;
  for (int block = 0; block < blocks; ++block) {
    TokenTree tree(text.back());
    while (tree.size() < nodes)
      tree.child(static_cast<NodeId>(random() % static_cast<unsigned>(tree.size())), token());
    value_of(session->score(text, tree));
    for (NodeId node = 0; node < tree.size(); ++node) rows.push_back(copy(session->logits(node)));
    const RecycledVector<NodeId> path = tree.path(static_cast<NodeId>(nodes - 1 - block));
    session->keep(path);
    for (const NodeId node : path) text.push_back(tree.token(node));
    text.push_back(token());
  }
  return rows;
}

std::vector<std::vector<double>> course_in_company(const Transformer& model, NodeId nodes) {
  std::mt19937 random(2);
  const auto token = [&] { return static_cast<Token>(3 + random() % (model.vocabulary() - 3)); };
  constexpr std::size_t count = 3;
  std::vector<std::vector<Token>> texts(count);
  std::vector<TokenTree> trees;
  std::vector<std::unique_ptr<Session>> sessions;
  for (std::size_t i = 0; i < count; ++i) {
    while (texts[i].size() < 10 + 40 * i) texts[i].push_back(token());
    TokenTree& tree = trees.emplace_back(texts[i].back());
    while (tree.size() < nodes)
      tree.child(static_cast<NodeId>(random() % static_cast<unsigned>(tree.size())), token());
    sessions.push_back(value_of(model.start(0, static_cast<std::size_t>(nodes))));
  }
  std::vector<Scoring> scorings;
  for (std::size_t i = 0; i < count; ++i)
    scorings.push_back({.session = sessions[i].get(), .text = texts[i], .tree = &trees[i]});
  while (!std::ranges::all_of(scorings, &Scoring::is_over)) model.score_together(scorings);
  std::vector<std::vector<double>> rows;
  for (std::size_t i = 0; i < count; ++i) {
    value_of(scorings[i].result);
    for (NodeId node = 0; node < trees[i].size(); ++node) rows.push_back(copy(sessions[i]->logits(node)));
  }
  return rows;
}

double largest_distance(const std::vector<std::vector<double>>& found,
                        const std::vector<std::vector<double>>& expected) {
  SPECTR_CHECK(found.size() == expected.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < found.size(); ++i)
    largest = std::max(largest, relative_distance(found[i], expected[i]));
  return largest;
}

std::string test_name_of(const fs::path& model) {
  std::string name = model.parent_path().filename().string() + model.stem().string();
  std::erase_if(name, [](unsigned char c) { return !std::isalnum(c); });
  return name;
}

}  // namespace spectr::test
