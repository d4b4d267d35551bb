#include "spectr/backend/cuda/cuda_device.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <sstream>
#include <system_error>

#include "spectr/backend/cuda/plan_trial.h"
#include "spectr/backend/device/device_backend.h"
#include "spectr/base/check.h"
#include "spectr/base/temporary_name.h"

namespace spectr::cuda {
namespace {

constexpr int min_capability = 75;              // Turing: packed dot products, f16
constexpr int hopper = 90;                      // bulk copies, transaction barriers, dependent launches
constexpr int ampere = 80;                      // asynchronous copies by threads, MMA with k = 32 bytes
constexpr int min_early_launch_driver = 12030;  // CUDA 12.3 captures dependent launches as edges of graphs
constexpr int default_shared = 48 << 10;        // bytes per thread block without opting in
constexpr unsigned non_blocking = 1;

Result<std::string> description_of(const Driver& driver, int ordinal, CUdevice& device) {
  std::array<char, 256> name = {};
  CUresult result = driver.cuDeviceGet(&device, ordinal);
  if (result == success)
    result = driver.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device);
  if (result != success)
    return error(ErrorCode::internal, "{}: {}", name_of_device(ordinal), driver.text_of(result));
  return std::string(name.data());
}

}  // namespace

std::string name_of_device(int ordinal) {
  return fmt::format("CUDA{}", ordinal);
}

Result<std::vector<ListedGpu>> devices(const Driver& driver) {
  int count = 0;
  if (const CUresult result = driver.cuDeviceGetCount(&count); result != success) {
    return error(ErrorCode::unsupported, "the CUDA driver finds no devices: {}", driver.text_of(result));
  }
  std::vector<ListedGpu> all;
  for (int i = 0; i < count; ++i) {
    CUdevice device = 0;
    SPECTR_TRY(const std::string description, description_of(driver, i, device));
    std::size_t bytes = 0;
    if (const CUresult result = driver.cuDeviceTotalMem_v2(&bytes, device); result != success)
      return error(ErrorCode::internal, "{}: {}", name_of_device(i), driver.text_of(result));
    all.push_back({name_of_device(i), description, bytes});
  }
  return all;
}

class CudaDevice::Memory final : public DeviceMemory {
 public:
  Memory(const CudaDevice& device, CUdeviceptr address, std::size_t bytes)
      : DeviceMemory(bytes), device_(device), address_(address) {}
  ~Memory() override {
    const auto lock = device_.use();
    device_.driver_.cuMemFree_v2(address_);
  }
  CUdeviceptr address() const { return address_; }

 private:
  const CudaDevice& device_;
  CUdeviceptr address_;
};

class CudaDevice::PinnedMemory final : public StagingMemory {
 public:
  PinnedMemory(const CudaDevice& device, std::span<std::byte> bytes)
      : StagingMemory(bytes), device_(device) {}
  ~PinnedMemory() override {
    const auto lock = device_.use();
    device_.driver_.cuMemFreeHost(bytes().data());
  }

 private:
  const CudaDevice& device_;
};

class CudaDevice::Graph final : public Recording {
 public:
  Graph(const CudaDevice& device, CUgraphExec exec) : device_(device), exec_(exec) {}
  ~Graph() override {
    const auto lock = device_.use();
    device_.driver_.cuGraphExecDestroy(exec_);
  }
  CUgraphExec exec() const { return exec_; }

 private:
  const CudaDevice& device_;
  CUgraphExec exec_;
};

Result<std::shared_ptr<CudaDevice>> CudaDevice::open(const Driver& driver, int ordinal, KernelImages images,
                                                     const TrialSettings& trial) {
  std::shared_ptr<CudaDevice> device(new CudaDevice(driver, ordinal, images, trial));
  SPECTR_TRY_VOID(device->begin(ordinal));
  return device;
}

Result<void> CudaDevice::begin(int ordinal) {
  SPECTR_TRY(description_, description_of(driver_, ordinal, device_));
  const auto attribute = [this](int which) {
    int value = 0;
    driver_.cuDeviceGetAttribute(&value, which, device_);
    return value;
  };
  const int major = attribute(attribute_major), minor = attribute(attribute_minor);
  if (10 * major + minor < min_capability) {
    return error(ErrorCode::unsupported, "{} ({}): compute capability {}.{}, but 7.5 is needed", name_,
                 description_, major, minor);
  }
  plans_ = ProductPlans({.count = attribute(attribute_processors),
                         .shared_bytes = attribute(attribute_shared_of_processor),
                         .copies = 10 * major + minor >= hopper   ? Copies::in_bulk
                                   : 10 * major + minor >= ampere ? Copies::by_threads
                                                                  : Copies::none,
                         .group_shared_bytes = attribute(attribute_shared_of_group)});
  const std::string kernels = code_of("kernels");
  const int needed = driver_version_for(kernels);
  driver_.cuDriverGetVersion(&driver_version_);
  const int version = driver_version_;
  if (version < needed) {
    return error(ErrorCode::unsupported, "{} ({}): the driver knows CUDA {}.{}, but {}.{} is needed", name_,
                 description_, version / 1000, version % 1000 / 10, needed / 1000, needed % 1000 / 10);
  }
  launches_early_ = plans_->device().copies == Copies::in_bulk && version >= min_early_launch_driver;
  if (!trial_.kept.empty()) {
    std::ostringstream lines;
    lines << std::ifstream(trial_.kept).rdbuf();
    take_lines(lines.str(), *plans_);
  }
  const auto checked = [this](CUresult result) -> Result<void> {
    if (result == success) return {};
    return error(cuda::code_of(result), "{} ({}) cannot be used: {}", name_, description_,
                 driver_.text_of(result));
  };
  SPECTR_TRY_VOID(checked(driver_.cuDevicePrimaryCtxRetain(&context_, device_)));
  is_retained_ = true;
  const auto lock = use();
  SPECTR_TRY_VOID(checked(driver_.cuStreamCreate(&stream_, non_blocking)));
  SPECTR_TRY_VOID(checked(driver_.cuEventCreate(&begun_, 0)));
  SPECTR_TRY_VOID(checked(driver_.cuEventCreate(&ended_, 0)));
  return load("kernels", kernels);
}

CudaDevice::~CudaDevice() {
  if (!is_retained_) return;
  const auto lock = use();
  for (const auto& [image, module] : modules_) driver_.cuModuleUnload(module);
  for (CUevent event : {begun_, ended_})
    if (event != nullptr) driver_.cuEventDestroy_v2(event);
  if (stream_ != nullptr) driver_.cuStreamDestroy_v2(stream_);
  driver_.cuCtxSetCurrent(nullptr);
  driver_.cuDevicePrimaryCtxRelease_v2(device_);
}

/// Locks the device and makes its context current on this thread.
std::unique_lock<std::mutex> CudaDevice::use() const {
  std::unique_lock lock(mutex_);
  driver_.cuCtxSetCurrent(context_);
  return lock;
}

Result<void> CudaDevice::check(CUresult result, std::string_view action, std::string_view object) const {
  if (result == success) return {};
  const ErrorCode code = cuda::code_of(result);
  const std::string reason = driver_.text_of(result);
  if (code == ErrorCode::device_lost)
    return error(code, "{}: the device was lost during a pass ({})", name_, reason);
  return error(code, "{}: {}{}{} failed ({})", name_, action, object.empty() ? "" : " ", object, reason);
}

void CudaDevice::choose(const ProductSizes& sizes, const ProductPlan& plan) {
  const auto lock = use();
  plans_->choose(sizes, plan);
}

DeviceInfo CudaDevice::info() const {
  const auto lock = use();
  DeviceInfo info{name_, description_, 0, 0};
  driver_.cuMemGetInfo_v2(&info.free_bytes, &info.bytes);
  return info;
}

const Caps& CudaDevice::caps() const {
  static const Caps caps = device_caps("cuda");
  return caps;
}

std::unique_ptr<DeviceMemory> CudaDevice::allocate(std::size_t bytes) {
  CUdeviceptr address = 0;
  {
    const auto lock = use();
    if (driver_.cuMemAlloc_v2(&address, std::max<std::size_t>(bytes, 1)) != success) throw std::bad_alloc();
  }
  return std::make_unique<Memory>(*this, address, bytes);
}

std::unique_ptr<StagingMemory> CudaDevice::allocate_staging(std::size_t bytes) {
  void* at = nullptr;
  {
    const auto lock = use();
    if (driver_.cuMemAllocHost_v2(&at, std::max<std::size_t>(bytes, 1)) != success) at = nullptr;
  }
  if (at == nullptr) return Device::allocate_staging(bytes);
  return std::make_unique<PinnedMemory>(*this, std::span(static_cast<std::byte*>(at), bytes));
}

CUdeviceptr CudaDevice::address_of(const Slice& slice) const {
  return slice ? static_cast<const Memory*>(slice.memory)->address() + slice.offset : 0;
}

Result<void> CudaDevice::upload(const Slice& to, std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  SPECTR_CHECK(to.offset + bytes.size() <= to.memory->bytes());
  const auto lock = use();
  // When this returns, the driver has copied pageable memory, and reads pinned memory until the copy is over.
  return check(driver_.cuMemcpyHtoDAsync_v2(address_of(to), bytes.data(), bytes.size(), stream_),
               "an upload");
}

Result<void> CudaDevice::download(std::span<std::byte> to, const Slice& from) {
  return run_and_download({}, to, from);
}

Result<void> CudaDevice::copy(std::span<const DeviceCopy> copies) {
  const auto lock = use();
  for (const auto& [to, from, bytes] : copies) {
    SPECTR_CHECK(to.offset + bytes <= to.memory->bytes() && from.offset + bytes <= from.memory->bytes());
    SPECTR_TRY_VOID(
        check(driver_.cuMemcpyDtoDAsync_v2(address_of(to), address_of(from), bytes, stream_), "a copy"));
  }
  return check(driver_.cuStreamSynchronize(stream_), "a copy");
}

/// Returns the code of an image for this GPU.
std::string CudaDevice::code_of(const std::string& image) const {
  const bool is_before_hopper = plans_->device().copies != Copies::in_bulk;
  return images_(image == "kernels" && is_before_hopper ? "kernels_before_hopper" : image);
}

/// Loads an image. The driver's first compilation takes several seconds.
Result<void> CudaDevice::load(const std::string& image, const std::string& code) {
  CUmodule module = nullptr;
  SPECTR_TRY_VOID(check(driver_.cuModuleLoadData(&module, code.c_str()), "loading the image", image));
  modules_[image] = module;
  return {};
}

/// Returns a launch's kernel. The first launch that needs it loads the kernel's image. The first launch with
/// more shared memory than the default permits the GPU's maximum: the limit belongs to the kernel, and a
/// limit of each launch's size would be too small for larger launches that are recorded already.
Result<CUfunction> CudaDevice::function(const Launch& launch) {
  auto& [handle, has_large_memory] = functions_[launch.kernel];
  if (handle == nullptr) {
    if (!modules_.contains(launch.image)) SPECTR_TRY_VOID(load(launch.image, code_of(launch.image)));
    const std::string name = "spectr_" + launch.kernel;
    SPECTR_TRY_VOID(check(driver_.cuModuleGetFunction(&handle, modules_.at(launch.image), name.c_str()),
                          "loading the kernel", launch.kernel));
  }
  if (launch.shared_bytes > default_shared && !has_large_memory) {
    int fixed = 0;
    CUresult result = driver_.cuFuncGetAttribute(&fixed, function_static_shared_bytes, handle);
    if (result == success) {
      result = driver_.cuFuncSetAttribute(handle, function_shared_bytes,
                                          plans_->device().group_shared_bytes - fixed);
    }
    SPECTR_TRY_VOID(check(result, "reserving shared memory of", launch.kernel));
    has_large_memory = true;
  }
  return handle;
}

Result<void> CudaDevice::launch(const Launch& launch) {
  SPECTR_TRY(CUfunction of, function(launch));
  CUlaunchAttribute attribute = {.id = launch_programmatic_serialization, .unused = 0, .value = {1}};
  const CUlaunchConfig config{.grid_x = static_cast<unsigned>(launch.groups_x),
                              .grid_y = static_cast<unsigned>(launch.groups_y),
                              .grid_z = 1,
                              .block_x = static_cast<unsigned>(launch.threads),
                              .block_y = 1,
                              .block_z = 1,
                              .shared_bytes = static_cast<unsigned>(launch.shared_bytes),
                              .stream = stream_,
                              .attributes = &attribute,
                              .attribute_count = launches_early_ ? 1u : 0u};
  void* parameters[] = {
      const_cast<std::byte*>(launch.parameters.data())};  // NOLINT: the driver only reads them
  return check(driver_.cuLaunchKernelEx(&config, of, static_cast<void**>(parameters), nullptr), "launching",
               launch.kernel);
}

/// Converts calls to launches, and loads their kernels.
Result<void> CudaDevice::prepare(std::span<const call::AnyCall> calls) {
  launches_.clear();
  add_launches(calls, *plans_, [this](const Slice& slice) { return address_of(slice); }, launches_);
  for (const Launch& one : launches_) SPECTR_TRY_VOID(function(one));
  return {};
}

Result<void> CudaDevice::launch_all() {
  for (const Launch& one : launches_) SPECTR_TRY_VOID(launch(one));
  return {};
}

/// Captures the launches of prepare() as a graph.
Result<CUgraphExec> CudaDevice::capture() {
  SPECTR_TRY_VOID(check(driver_.cuStreamBeginCapture_v2(stream_, capture_relaxed), "recording a pass"));
  const Result<void> launched = launch_all();
  CUgraph graph = nullptr;
  const Result<void> ended = check(driver_.cuStreamEndCapture(stream_, &graph), "recording a pass");
  CUgraphExec exec = nullptr;
  Result<void> made = launched ? ended : launched;
  if (made) made = check(driver_.cuGraphInstantiateWithFlags(&exec, graph, 0), "instantiating a pass");
  if (graph != nullptr) driver_.cuGraphDestroy(graph);
  if (!made) return std::unexpected(made.error());
  return exec;
}

/// Returns the minimum time of several runs of these calls.
Result<double> CudaDevice::seconds(std::span<const call::AnyCall> calls) {
  constexpr int times = 5;
  SPECTR_TRY_VOID(prepare(calls));
  SPECTR_TRY(CUgraphExec exec, capture());
  float fewest = std::numeric_limits<float>::infinity();
  CUresult result = success;
  const auto done = [&result](CUresult of) { return (result = of) == success; };
  for (int i = 0; i < times && result == success; ++i) {
    float milliseconds = 0;
    if (done(driver_.cuEventRecord(begun_, stream_)) && done(driver_.cuGraphLaunch(exec, stream_)) &&
        done(driver_.cuEventRecord(ended_, stream_)) && done(driver_.cuStreamSynchronize(stream_)) &&
        done(driver_.cuEventElapsedTime(&milliseconds, begun_, ended_)))
      fewest = std::min(fewest, milliseconds);
  }
  driver_.cuGraphExecDestroy(exec);
  SPECTR_TRY_VOID(check(result, "timing a pass"));
  return double{fewest} / 1e3;
}

/// Chooses plans for the pass's products that have none, if they are large enough for a trial.
Result<void> CudaDevice::try_plans(std::span<const call::AnyCall> calls) {
  if (bytes_to_try(calls, *plans_) < trial_.min_bytes) return {};
  const std::vector<call::AnyCall> tried = calls_for_trial(calls);
  SPECTR_TRY_VOID(choose_plans(tried, *plans_, [&] { return seconds(tried); }));
  if (trial_.kept.empty()) return {};
  const std::string aside = temporary_name(trial_.kept);
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(trial_.kept).parent_path(), ignored);
  const bool is_written = static_cast<bool>(std::ofstream(aside) << lines_of(*plans_) << std::flush);
  if (is_written) std::filesystem::rename(aside, trial_.kept, ignored);
  std::filesystem::remove(aside, ignored);
  return {};
}

Result<std::unique_ptr<Recording>> CudaDevice::record(std::span<const call::AnyCall> calls) {
  const auto lock = use();
  SPECTR_TRY_VOID(try_plans(calls));
  SPECTR_TRY_VOID(prepare(calls));
  SPECTR_TRY(CUgraphExec exec, capture());
  return std::make_unique<Graph>(*this, exec);
}

Result<void> CudaDevice::run(const Recording& recording) {
  const auto lock = use();
  SPECTR_TRY_VOID(
      check(driver_.cuGraphLaunch(static_cast<const Graph&>(recording).exec(), stream_), "a pass"));
  return check(driver_.cuStreamSynchronize(stream_), "a pass");
}

Result<void> CudaDevice::run(std::span<const call::AnyCall> calls) {
  return run_and_download(calls, {}, {});
}

Result<void> CudaDevice::run_and_download(std::span<const call::AnyCall> calls, std::span<std::byte> to,
                                          const Slice& from) {
  const auto lock = use();
  SPECTR_TRY_VOID(prepare(calls));
  SPECTR_TRY_VOID(launch_all());
  if (!to.empty()) {
    SPECTR_CHECK(from.offset + to.size() <= from.memory->bytes());
    SPECTR_TRY_VOID(
        check(driver_.cuMemcpyDtoHAsync_v2(to.data(), address_of(from), to.size(), stream_), "a download"));
  }
  return check(driver_.cuStreamSynchronize(stream_), "a pass");
}

}  // namespace spectr::cuda
