#include "spectr/base/os/process.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

extern char** environ;  // NOLINT(readability-redundant-declaration): only glibc declares it

namespace spectr {
namespace {

std::error_code system_error(int number) {
  return {number, std::generic_category()};
}

/// Returns a null-terminated array of pointers to the arguments, for functions of C.
std::vector<char*> pointers_to(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Writes what is buffered, if there is a file, and moves to its start. Returns errno, or 0 if that succeeds.
int go_to_start(std::FILE* file) {
  return file == nullptr || std::fseek(file, 0, SEEK_SET) == 0 ? 0 : errno;
}

}  // namespace

int process_id() {
  return ::getpid();
}

Result<std::filesystem::path> program_path() {
  constexpr const char* link = "/proc/self/exe";
  std::error_code failed;
  std::filesystem::path program = std::filesystem::read_symlink(link, failed);
  if (failed) return error(ErrorCode::internal, "{}: {}", link, failed.message());
  return program;
}

std::error_code replace_process(std::vector<std::string> arguments) {
  const std::vector<char*> pointers = pointers_to(arguments);  // outlives the read of errno
  ::execvp(arguments.front().c_str(), pointers.data());
  return system_error(errno);
}

std::expected<int, std::error_code> run_process(std::vector<std::string> arguments,
                                                const ProcessFiles& files) {
  if (const int failed = go_to_start(files.input)) return std::unexpected(system_error(failed));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::pair<std::FILE*, int> standard[] = {
      {files.input, STDIN_FILENO}, {files.output, STDOUT_FILENO}, {files.error, STDERR_FILENO}};
  for (const auto& [file, number] : standard)
    if (file != nullptr) posix_spawn_file_actions_adddup2(&actions, fileno(file), number);
  pid_t child = 0;
  const int spawned = posix_spawnp(&child, arguments.front().c_str(), &actions, nullptr,
                                   pointers_to(arguments).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (spawned != 0) return std::unexpected(system_error(spawned));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return std::unexpected(system_error(errno));
  }
  for (std::FILE* written : {files.output, files.error})
    if (const int failed = go_to_start(written)) return std::unexpected(system_error(failed));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace spectr
