#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace spectr {

/// Where a file of test data lies, by a name such as "models/stories260K-f32.gguf": in the project itself
/// (tests/data/ or the root), else in SPECTR_EXTRA_DATA; nullopt where neither has it (the test skips).
std::optional<std::filesystem::path> find_data(std::string_view name);

}  // namespace spectr
