#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace spectr {

/// The project's source folder, which the variable SPECTR_SOURCE_DIR overrides, and the extra data of
/// SPECTR_EXTRA_DATA, which may be absent.
std::filesystem::path source_folder();
std::filesystem::path extra_data_folder();
/// Returns the path of this build's `spectr` program.
std::string spectr_program();
/// Returns the folder of a fake NVML library with two boards.
std::string two_boards_folder();
/// Returns the path of a library that slows connections down when it is preloaded.
std::string slow_network();
/// Returns the path of an MPI program whose ranks arrive late; it exists only in builds with MPI.
std::string late_ranks();
/// Returns the folder of a fake libcuda.so.1, a CUDA driver without a GPU (mock_cuda.h).
std::string mock_cuda_folder();

/// Finds a test file by a name such as "models/stories260K-f32.gguf", in the project (tests/data/ or the
/// root), then in the extra data. Returns nullopt if neither has it (the test then skips).
std::optional<std::filesystem::path> find_data(std::string_view name);

}  // namespace spectr
