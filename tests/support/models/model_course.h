#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "spectr/nn/transformer.h"

namespace spectr::test {

/// Returns the small models of all architectures and formats.
std::vector<std::filesystem::path> course_models();
/// Returns a test name for a model.
std::string test_name_of(const std::filesystem::path& model);

/// Reads a text of `tokens` tokens (100 take several pieces), then blocks: scores a tree of `nodes` nodes and
/// keeps a path of it. Returns every row of logits. Requires: no more blocks than nodes.
std::vector<std::vector<double>> course(const Transformer& model, std::size_t tokens = 100, int blocks = 4,
                                        NodeId nodes = 9);

/// Scores trees of `nodes` nodes after three texts of different lengths, together in passes of many rows.
/// Returns every row of logits.
std::vector<std::vector<double>> course_in_company(const Transformer& model, NodeId nodes = 5);

/// Returns the largest ‖found − expected‖ / ‖expected‖ over the rows of two courses.
double largest_distance(const std::vector<std::vector<double>>& found,
                        const std::vector<std::vector<double>>& expected);

}  // namespace spectr::test
