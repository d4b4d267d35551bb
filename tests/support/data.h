#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace spectr {

/// Where the project's sources are, and the extra data of SPECTR_EXTRA_DATA, which may be absent.
std::filesystem::path source_folder();
std::filesystem::path extra_data_folder();
/// The program `spectr` of this build.
std::string spectr_program();
/// A driver of two boards that stands for NVML.
std::string two_boards_folder();
/// A library to preload that slows connections down.
std::string slow_network();
/// An MPI program whose ranks come late; there is one where the build has MPI.
std::string late_ranks();
/// A CUDA driver without a GPU (mock_cuda.h) that stands for libcuda.so.1.
std::string mock_cuda_folder();

/// Where a file of test data lies, by a name such as "models/stories260K-f32.gguf": in the project itself
/// (tests/data/ or the root), else in the extra data; nullopt where neither has it (the test skips).
std::optional<std::filesystem::path> find_data(std::string_view name);

}  // namespace spectr
