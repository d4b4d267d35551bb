#include "tests/support/devices/fibers.h"
// fibers.h must come first: the kernels included below run on fibers.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "tests/support/devices/mock_cuda.h"
#include "tests/support/devices/mock_state.h"

namespace spectr::test {
namespace {

using namespace cuda;  // NOLINT(google-build-using-namespace): its names are the driver's

std::unique_ptr<MockState> state;  // NOLINT: the driver's functions have no other way to it

/// Returns the planned result of this call of a function.
CUresult planned(const std::string& function) {
  const auto found = state->failing.extract(function);
  return found ? found.mapped() : success;
}

int group_shared_bytes() {
  return state->settings.shared_bytes - 1024;
}

CUresult begin_work() {
  need(state->is_current, "no context is current");
  state->finish_uploads();
  return state->is_lost ? lost : success;
}

CUresult run(const MockWork& work) {
  if (state->lost_after >= 0 && state->launched >= state->lost_after) {
    state->is_lost = true;
    return lost;
  }
  ++state->launched;
  state->milliseconds += state->settings.milliseconds(work.name, work.launch.groups_x);
  fibers::Launch launch = work.launch;
  if (!state->beginning.empty()) launch.exchange_memory = [] { state->exchange_with_beginning(); };
  fibers::launch(launch, [&] { work.kernel->run(work.parameters.data()); });
  return success;
}

}  // namespace

// The driver's functions, with the names and in the order of Driver.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
CUresult cuInit(unsigned) {
  return success;
}
CUresult cuDriverGetVersion(int* version) {
  *version = state->settings.version;
  return success;
}
CUresult cuDeviceGetCount(int* count) {
  *count = state->settings.devices;
  return *count > 0 ? success : no_device;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return ordinal < state->settings.devices ? success : 101;
}
CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  std::snprintf(name, static_cast<std::size_t>(size), "Mock %d", device);
  return success;
}
CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice) {
  *bytes = state->settings.bytes;
  return success;
}
CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice) {
  const std::map<int, int> values = {{attribute_processors, state->settings.processors},
                                     {attribute_shared_of_processor, state->settings.shared_bytes},
                                     {attribute_shared_of_group, group_shared_bytes()},
                                     {attribute_major, state->settings.major},
                                     {attribute_minor, state->settings.minor}};
  *value = values.at(attribute);
  return success;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  ++state->contexts;
  ++state->contexts_made;
  *context = reinterpret_cast<CUcontext>(state.get());
  return success;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  need(state->contexts-- > 0, "a context is released that nobody retains");
  return success;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  state->is_current = context != nullptr;
  return success;
}
CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  need(state->is_current, "no context is current");
  *total = state->settings.bytes;
  *free = state->settings.bytes - state->taken;
  return success;
}
CUresult cuMemAlloc_v2(CUdeviceptr* at, std::size_t bytes) {
  need(state->is_current && bytes > 0, "memory of no bytes, or of no context");
  if (bytes > state->settings.bytes - state->taken) return out_of_memory;
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  std::memset(memory, 0xFF, bytes);  // unwritten memory reads as NaN
  *at = reinterpret_cast<CUdeviceptr>(memory);
  state->blocks.emplace(*at, MockBlock{{memory, std::free}, bytes});
  state->taken += bytes;
  return success;
}
CUresult cuMemFree_v2(CUdeviceptr at) {
  state->finish_uploads();
  const auto block = state->blocks.find(at);
  need(block != state->blocks.end(), "memory is freed that nobody has");
  state->taken -= block->second.bytes;
  state->blocks.erase(block);
  return success;
}
CUresult cuMemAllocHost_v2(void** at, std::size_t bytes) {
  need(state->is_current && bytes > 0, "memory of no bytes, or of no context");
  if (const CUresult result = planned("cuMemAllocHost_v2"); result != success) return result;
  *at = std::malloc(bytes);  // NOLINT
  ++state->pinned_made;
  state->pinned.emplace(*at, MockBlock{{static_cast<std::byte*>(*at), std::free}, bytes});
  return success;
}
CUresult cuMemFreeHost(void* at) {
  state->finish_uploads();
  need(state->pinned.erase(at) == 1, "pinned memory is freed that nobody has");
  return success;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  if (const CUresult result = begin_work(); result != success) return result;
  state->check_handle(stream);
  need(state->captures == nullptr, "a copy while a graph is captured");
  state->uploads.push_back({state->place(to, bytes), from, bytes});
  if (!state->is_pinned(from)) state->finish_uploads();
  return success;
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  if (const CUresult result = begin_work(); result != success) return result;
  state->check_handle(stream);
  if (const CUresult result = planned("cuMemcpyDtoHAsync_v2"); result != success) return result;
  std::memcpy(to, state->place(from, bytes), bytes);
  if (++state->downloads == state->settings.wrong_download) *static_cast<unsigned char*>(to) ^= 1;
  return success;
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  if (const CUresult result = begin_work(); result != success) return result;
  state->check_handle(stream);
  std::memmove(state->place(to, bytes), state->place(from, bytes), bytes);
  return success;
}
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  need(image != nullptr && state->is_current, "a module of nothing");
  if (const CUresult result = planned("cuModuleLoadData"); result != success) return result;
  const auto has = [&](const char* kernel) { return std::strstr(static_cast<const char*>(image), kernel); };
  need(state->settings.major >= 9 || (!has("spectr_attend_") && !has("_short_run(")),
       "kernels that a GPU before Hopper does not know");
  need(state->settings.major >= 8 || !has("_by_threads("), "kernels that Turing does not know");
  need(state->captures == nullptr, "a module while a graph is captured");
  *module = state->new_handle<CUmodule>();
  state->images[*module] = static_cast<const char*>(image);
  return success;
}
CUresult cuModuleUnload(CUmodule module) {
  state->drop_handle(module);
  return success;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  state->check_handle(module);
  const auto kernel = state->kernels.find(name);
  need(kernel != state->kernels.end() && state->images.at(module).contains(entry_of(name)), name);
  *function = reinterpret_cast<CUfunction>(&state->functions.emplace_back(kernel->second));
  return success;
}
CUresult cuFuncGetAttribute(int* value, int attribute, CUfunction) {
  need(attribute == function_static_shared_bytes, "an attribute that a function does not have");
  *value = 0;
  return success;
}
CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  auto* const kernel = reinterpret_cast<MockKernel*>(function);
  need(attribute == function_shared_bytes && value <= group_shared_bytes(),
       "an attribute that a function cannot have");
  need(kernel->shared_bytes == default_shared_bytes, "a function's shared memory is set twice");
  kernel->shared_bytes = value;
  return success;
}
CUresult cuStreamCreate(CUstream* stream, unsigned) {
  *stream = state->new_handle<CUstream>();
  return success;
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  state->drop_handle(stream);
  return success;
}
CUresult cuStreamSynchronize(CUstream stream) {
  state->check_handle(stream);
  need(state->captures == nullptr, "waiting while a graph is captured");
  return begin_work();
}
CUresult cuStreamBeginCapture_v2(CUstream stream, int) {
  if (const CUresult result = begin_work(); result != success) return result;
  state->check_handle(stream);
  need(state->captures == nullptr, "a graph within a graph");
  state->captured.clear();
  state->captures = &state->captured;
  return success;
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  state->check_handle(stream);
  need(state->captures != nullptr, "the end of a graph that was not begun");
  state->captures = nullptr;
  *graph = state->new_handle<CUgraph>();
  state->graphs[*graph] = std::move(state->captured);
  return success;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long) {
  state->check_handle(graph);
  if (const CUresult result = planned("cuGraphInstantiateWithFlags"); result != success) return result;
  for (const MockWork& work : state->graphs.at(graph)) {
    need(work.launch.shared <= work.kernel->shared_bytes,
         "a graph with more shared memory than was asked for");
  }
  *exec = state->new_handle<CUgraphExec>();
  state->graphs[*exec] = state->graphs.at(graph);
  return success;
}
CUresult cuGraphDestroy(CUgraph graph) {
  state->graphs.erase(graph);
  state->drop_handle(graph);
  return success;
}
CUresult cuGraphExecDestroy(CUgraphExec exec) {
  state->graphs.erase(exec);
  state->drop_handle(exec);
  return success;
}
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  if (const CUresult result = begin_work(); result != success) return result;
  state->check_handle(exec);
  state->check_handle(stream);
  if (state->settings.early) {
    for (const auto& [at, block] : state->blocks)
      state->beginning[at].assign(block.memory.get(), block.memory.get() + block.bytes);
  }
  for (const MockWork& work : state->graphs.at(exec)) {
    if (run(work) != success) break;  // reported by the next wait
  }
  state->beginning.clear();
  return success;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
  if (const CUresult result = begin_work(); result != success) return result;
  auto* const kernel = reinterpret_cast<MockKernel*>(function);
  state->check_handle(config->stream);
  if (const CUresult result = planned("cuLaunchKernelEx"); result != success) return result;
  need(extra == nullptr && config->grid_x > 0 && config->grid_y > 0 && config->grid_z == 1,
       "a grid without groups");
  need(config->grid_y <= 65535, "a grid that is too high");
  need(config->block_x == static_cast<unsigned>(kernel->threads) && config->block_y == 1 &&
           config->block_z == 1,
       "other threads than the kernel was compiled for");
  need(static_cast<int>(config->shared_bytes) <= kernel->shared_bytes,
       "more shared memory than was asked for");
  need(config->attribute_count <= 1 && (config->attribute_count == 0 || config->attributes->id == 6),
       "an attribute of launches that there is not");
  need(config->attribute_count == 0 || state->settings.major >= 9,
       "a GPU before Hopper begins no kernel before its predecessors have ended");
  need(config->attribute_count == 0 || state->settings.version >= 12030,
       "a driver before CUDA 12.3 has no graphs with dependent launches");
  const auto* const bytes = static_cast<const std::byte*>(parameters[0]);
  MockWork work{kernel->name,
                kernel,
                {static_cast<int>(config->grid_x), static_cast<int>(config->grid_y), kernel->threads,
                 static_cast<int>(config->shared_bytes), state->settings.lazy},
                std::vector<std::byte>(bytes, bytes + kernel->parameter_bytes)};
  if (state->captures == nullptr) return run(work);
  state->captures->push_back(std::move(work));
  return success;
}
CUresult cuEventCreate(CUevent* event, unsigned) {
  *event = state->new_handle<CUevent>();
  return success;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  state->check_handle(event);
  state->check_handle(stream);
  state->events[event] = state->milliseconds;
  return success;
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent from, CUevent to) {
  *milliseconds = static_cast<float>(state->events.at(to) - state->events.at(from));
  return success;
}
CUresult cuEventDestroy_v2(CUevent event) {
  state->drop_handle(event);
  return success;
}
CUresult cuGetErrorString(CUresult result, const char** text) {
  *text = mock_text_of(result);
  return success;
}
}  // extern "C"
// NOLINTEND(readability-identifier-naming)

MockCuda::MockCuda(const Settings& settings) {
  need(state == nullptr, "one driver at a time");
  state = std::make_unique<MockState>();
  state->settings = settings;
}

MockCuda::~MockCuda() {
  need(state->blocks.empty() && state->pinned.empty() && state->handles.empty() && state->contexts == 0,
       "something was not given back");
  state.reset();
}

std::string MockCuda::image(std::string_view name) {
  static const std::map<std::string, std::string> all = mock_images();
  return all.at(std::string(name));
}

const Driver& MockCuda::driver() const {
#define SPECTR_ADDRESS(name, ...) .name = name,
  static const Driver driver = {SPECTR_CUDA_FUNCTIONS(SPECTR_ADDRESS)};
#undef SPECTR_ADDRESS
  return driver;
}

int MockCuda::launched() const {
  return state->launched;
}

int MockCuda::contexts_made() const {
  return state->contexts_made;
}

int MockCuda::pinned_made() const {
  return state->pinned_made;
}

void MockCuda::fail_next(const std::string& function, CUresult result) {
  state->failing[function] = result;
}

void MockCuda::lose_at(int kernels) {
  state->lost_after = state->launched + kernels;
}

}  // namespace spectr::test
