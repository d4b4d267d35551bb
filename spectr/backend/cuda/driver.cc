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
#define SPECTR_FIND(function, ...)                \
  if (!find(library, #function, driver.function)) \
    return error(ErrorCode::unsupported, "the CUDA driver is too old: {} has no " #function, name);
  SPECTR_CUDA_FUNCTIONS(SPECTR_FIND)
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

ErrorCode code_of(CUresult result) {
  switch (result) {
    case out_of_memory:
      return ErrorCode::out_of_memory;
    case 200:  // invalid image
    case 209:  // no binary for the GPU
    case 218:  // invalid PTX
    case 221:  // the compiler of PTX was not found
    case 222:  // unsupported PTX version
    case 223:  // compilation of PTX is disabled
    case 300:  // invalid source
    case 500:  // a symbol was not found
    case 801:  // not supported
      return ErrorCode::unsupported;
    case 4:    // the driver is shutting down
    case 46:   // the device is unavailable
    case 201:  // invalid context
    case 214:  // uncorrectable ECC error
    case 220:  // uncorrectable NVLink error
    case 226:  // contained hardware error
    case 700:  // illegal address
    case 702:  // launch timeout
    case 709:  // the context is destroyed
    case 710:  // a failed assertion
    case 714:  // hardware stack error
    case 715:  // illegal instruction
    case 716:  // misaligned address
    case 717:  // invalid address space
    case 718:  // invalid program counter
    case 719:  // launch failure
    case 721:  // tensor memory leak
    case 999:  // unknown
      return ErrorCode::device_lost;
    default:
      return ErrorCode::internal;
  }
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
