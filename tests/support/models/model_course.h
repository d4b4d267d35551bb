#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "spectr/nn/transformer.h"

namespace spectr::test {

/// The small models of all architectures and formats.
std::vector<std::filesystem::path> course_models();
/// Of a model, for tests of each of them.
std::string test_name_of(const std::filesystem::path& model);

/// A text of so many tokens (100: several pieces), then blocks: a tree of so many nodes is scored and a path
/// of it kept. Gives every row of logits. Requires: no more blocks than nodes.
std::vector<std::vector<double>> course(const Transformer& model, std::size_t tokens = 100, int blocks = 4,
                                        NodeId nodes = 9);

/// Of two courses, row by row: ‖found − expected‖ / ‖expected‖.
double largest_distance(const std::vector<std::vector<double>>& found,
                        const std::vector<std::vector<double>>& expected);

}  // namespace spectr::test
