#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "spectr/base/result.h"

/// The parts of the CUDA driver API in use, declared here: building needs no CUDA toolkit, and running needs
/// only the driver's own library, which is loaded at run time.
namespace spectr::cuda {

// NOLINTBEGIN(readability-identifier-naming): as the driver names them
using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphExec = struct CUgraphExec_st*;

/// An optional attribute of a launch; `id` selects the value's member.
struct CUlaunchAttribute {
  int id;
  int unused;
  union {
    int programmatic_serialization;  ///< id 6: the kernel may start before its predecessors have ended
    char bytes[64];
  } value;
};
static_assert(sizeof(CUlaunchAttribute) == 72);

struct CUlaunchConfig {
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  CUstream stream;
  CUlaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(CUlaunchConfig) == 56);

/// Device attributes, function attributes, a capture mode, and result codes.
inline constexpr int attribute_processors = 16, attribute_shared_of_processor = 81,
                     attribute_shared_of_group = 97, attribute_major = 75, attribute_minor = 76;
inline constexpr int function_static_shared_bytes = 1, function_shared_bytes = 8;
inline constexpr int capture_relaxed = 2;
inline constexpr int launch_programmatic_serialization = 6;
inline constexpr CUresult success = 0, out_of_memory = 2;

/// The functions of the driver: X(name, parameters).
#define SPECTR_CUDA_FUNCTIONS(X)                                                                          \
  X(cuInit, unsigned flags)                                                                               \
  X(cuDriverGetVersion, int* version)                                                                     \
  X(cuDeviceGetCount, int* count)                                                                         \
  X(cuDeviceGet, CUdevice* device, int ordinal)                                                           \
  X(cuDeviceGetName, char* name, int size, CUdevice device)                                               \
  X(cuDeviceTotalMem_v2, std::size_t* bytes, CUdevice device)                                             \
  X(cuDeviceGetAttribute, int* value, int attribute, CUdevice device)                                     \
  X(cuDevicePrimaryCtxRetain, CUcontext* context, CUdevice device)                                        \
  X(cuDevicePrimaryCtxRelease_v2, CUdevice device)                                                        \
  X(cuCtxSetCurrent, CUcontext context)                                                                   \
  X(cuMemGetInfo_v2, std::size_t* free, std::size_t* total)                                               \
  X(cuMemAlloc_v2, CUdeviceptr* at, std::size_t bytes)                                                    \
  X(cuMemFree_v2, CUdeviceptr at)                                                                         \
  X(cuMemAllocHost_v2, void** at, std::size_t bytes)                                                      \
  X(cuMemFreeHost, void* at)                                                                              \
  X(cuMemcpyHtoDAsync_v2, CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream)           \
  X(cuMemcpyDtoHAsync_v2, void* to, CUdeviceptr from, std::size_t bytes, CUstream stream)                 \
  X(cuMemcpyDtoDAsync_v2, CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream)           \
  X(cuModuleLoadData, CUmodule* module, const void* image)                                                \
  X(cuModuleUnload, CUmodule module)                                                                      \
  X(cuModuleGetFunction, CUfunction* function, CUmodule module, const char* name)                         \
  X(cuFuncGetAttribute, int* value, int attribute, CUfunction function)                                   \
  X(cuFuncSetAttribute, CUfunction function, int attribute, int value)                                    \
  X(cuStreamCreate, CUstream* stream, unsigned flags)                                                     \
  X(cuStreamDestroy_v2, CUstream stream)                                                                  \
  X(cuStreamSynchronize, CUstream stream)                                                                 \
  X(cuStreamBeginCapture_v2, CUstream stream, int mode)                                                   \
  X(cuStreamEndCapture, CUstream stream, CUgraph* graph)                                                  \
  X(cuGraphInstantiateWithFlags, CUgraphExec* exec, CUgraph graph, unsigned long long flags)              \
  X(cuGraphDestroy, CUgraph graph)                                                                        \
  X(cuGraphExecDestroy, CUgraphExec exec)                                                                 \
  X(cuGraphLaunch, CUgraphExec exec, CUstream stream)                                                     \
  X(cuLaunchKernelEx, const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) \
  X(cuEventCreate, CUevent* event, unsigned flags)                                                        \
  X(cuEventRecord, CUevent event, CUstream stream)                                                        \
  X(cuEventElapsedTime, float* milliseconds, CUevent from, CUevent to)                                    \
  X(cuEventDestroy_v2, CUevent event)                                                                     \
  X(cuGetErrorString, CUresult result, const char** text)

/// The functions of the driver. All pointers are set.
struct Driver {
#define SPECTR_MEMBER(name, ...) CUresult (*name)(__VA_ARGS__);
  SPECTR_CUDA_FUNCTIONS(SPECTR_MEMBER)
#undef SPECTR_MEMBER

  /// Returns the driver's description of a result.
  std::string text_of(CUresult result) const;
};
// NOLINTEND(readability-identifier-naming)

/// Returns the kind of a failure. Device errors after which the driver refuses all further work are
/// device_lost. Kernels that the driver cannot load are unsupported. Requires: result != success.
ErrorCode code_of(CUresult result);

/// Returns this machine's driver. The first call loads `library`, which is never unloaded. Thread-safe.
/// Errors: no driver, a driver that is too old, or failed initialization; the message is a clause ("there is
/// no CUDA driver …").
Result<const Driver*> load_driver(const std::string& library = "libcuda.so.1");

}  // namespace spectr::cuda
