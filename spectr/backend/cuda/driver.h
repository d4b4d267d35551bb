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

/// The functions of the driver. All pointers are set.
struct Driver {
  CUresult (*cuInit)(unsigned flags);
  CUresult (*cuDriverGetVersion)(int* version);
  CUresult (*cuDeviceGetCount)(int* count);
  CUresult (*cuDeviceGet)(CUdevice* device, int ordinal);
  CUresult (*cuDeviceGetName)(char* name, int size, CUdevice device);
  CUresult (*cuDeviceTotalMem_v2)(std::size_t* bytes, CUdevice device);
  CUresult (*cuDeviceGetAttribute)(int* value, int attribute, CUdevice device);
  CUresult (*cuDevicePrimaryCtxRetain)(CUcontext* context, CUdevice device);
  CUresult (*cuDevicePrimaryCtxRelease_v2)(CUdevice device);
  CUresult (*cuCtxSetCurrent)(CUcontext context);
  CUresult (*cuMemGetInfo_v2)(std::size_t* free, std::size_t* total);
  CUresult (*cuMemAlloc_v2)(CUdeviceptr* at, std::size_t bytes);
  CUresult (*cuMemFree_v2)(CUdeviceptr at);
  CUresult (*cuMemcpyHtoDAsync_v2)(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream);
  CUresult (*cuMemcpyDtoHAsync_v2)(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream);
  CUresult (*cuMemcpyDtoDAsync_v2)(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream);
  CUresult (*cuModuleLoadData)(CUmodule* module, const void* image);
  CUresult (*cuModuleUnload)(CUmodule module);
  CUresult (*cuModuleGetFunction)(CUfunction* function, CUmodule module, const char* name);
  CUresult (*cuFuncGetAttribute)(int* value, int attribute, CUfunction function);
  CUresult (*cuFuncSetAttribute)(CUfunction function, int attribute, int value);
  CUresult (*cuStreamCreate)(CUstream* stream, unsigned flags);
  CUresult (*cuStreamDestroy_v2)(CUstream stream);
  CUresult (*cuStreamSynchronize)(CUstream stream);
  CUresult (*cuStreamBeginCapture_v2)(CUstream stream, int mode);
  CUresult (*cuStreamEndCapture)(CUstream stream, CUgraph* graph);
  CUresult (*cuGraphInstantiateWithFlags)(CUgraphExec* exec, CUgraph graph, unsigned long long flags);
  CUresult (*cuGraphDestroy)(CUgraph graph);
  CUresult (*cuGraphExecDestroy)(CUgraphExec exec);
  CUresult (*cuGraphLaunch)(CUgraphExec exec, CUstream stream);
  CUresult (*cuLaunchKernelEx)(const CUlaunchConfig* config, CUfunction function, void** parameters,
                               void** extra);
  CUresult (*cuEventCreate)(CUevent* event, unsigned flags);
  CUresult (*cuEventRecord)(CUevent event, CUstream stream);
  CUresult (*cuEventElapsedTime)(float* milliseconds, CUevent from, CUevent to);
  CUresult (*cuEventDestroy_v2)(CUevent event);
  CUresult (*cuGetErrorString)(CUresult result, const char** text);

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
