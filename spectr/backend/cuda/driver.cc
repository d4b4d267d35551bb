#include "spectr/backend/cuda/driver.h"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <type_traits>

namespace spectr::cuda {
namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

Result<Driver> load(const std::string& name) {
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr)
    return error(ErrorCode::unsupported, "there is no CUDA driver ({} was not found)", name);
  Driver driver = {};
#define SPECTR_FIND(function)                     \
  if (!find(library, #function, driver.function)) \
  return error(ErrorCode::unsupported, "the CUDA driver is too old: {} has no " #function, name)
  SPECTR_FIND(cuInit);
  SPECTR_FIND(cuDriverGetVersion);
  SPECTR_FIND(cuDeviceGetCount);
  SPECTR_FIND(cuDeviceGet);
  SPECTR_FIND(cuDeviceGetName);
  SPECTR_FIND(cuDeviceGetAttribute);
  SPECTR_FIND(cuDevicePrimaryCtxRetain);
  SPECTR_FIND(cuDevicePrimaryCtxRelease_v2);
  SPECTR_FIND(cuCtxSetCurrent);
  SPECTR_FIND(cuMemGetInfo_v2);
  SPECTR_FIND(cuMemAlloc_v2);
  SPECTR_FIND(cuMemFree_v2);
  SPECTR_FIND(cuMemcpyHtoDAsync_v2);
  SPECTR_FIND(cuMemcpyDtoHAsync_v2);
  SPECTR_FIND(cuMemcpyDtoDAsync_v2);
  SPECTR_FIND(cuModuleLoadData);
  SPECTR_FIND(cuModuleUnload);
  SPECTR_FIND(cuModuleGetFunction);
  SPECTR_FIND(cuFuncSetAttribute);
  SPECTR_FIND(cuStreamCreate);
  SPECTR_FIND(cuStreamDestroy_v2);
  SPECTR_FIND(cuStreamSynchronize);
  SPECTR_FIND(cuStreamBeginCapture_v2);
  SPECTR_FIND(cuStreamEndCapture);
  SPECTR_FIND(cuGraphInstantiateWithFlags);
  SPECTR_FIND(cuGraphDestroy);
  SPECTR_FIND(cuGraphExecDestroy);
  SPECTR_FIND(cuGraphLaunch);
  SPECTR_FIND(cuLaunchKernelEx);
  SPECTR_FIND(cuEventCreate);
  SPECTR_FIND(cuEventRecord);
  SPECTR_FIND(cuEventElapsedTime);
  SPECTR_FIND(cuEventDestroy_v2);
  SPECTR_FIND(cuGetErrorString);
#undef SPECTR_FIND
  if (const CUresult result = driver.cuInit(0); result != success) {
    return error(ErrorCode::unsupported, "the CUDA driver cannot begin: {}", driver.text_of(result));
  }
  return driver;
}

}  // namespace

std::string Driver::text_of(CUresult result) const {
  const char* text = nullptr;
  if (cuGetErrorString(result, &text) != success || text == nullptr) return fmt::format("error {}", result);
  return text;
}

Result<const Driver*> load_driver(const std::string& library) {
  static std::mutex mutex;
  static std::map<std::string, Result<Driver>> loaded;
  const std::lock_guard lock(mutex);
  auto at = loaded.find(library);
  if (at == loaded.end()) at = loaded.emplace(library, load(library)).first;
  if (!at->second) return std::unexpected(at->second.error());
  return &*at->second;
}

}  // namespace spectr::cuda
