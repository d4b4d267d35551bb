#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "spectr/base/result.h"

/// What is used of the CUDA driver, declared here: building takes no toolkit, and running no library but the
/// driver's own, which is looked for at run time.
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

/// How a kernel is launched besides; `id` says what the value is.
struct CUlaunchAttribute {
  int id;
  int unused;
  union {
    int programmatic_serialization;  ///< of id 6: it may begin before its predecessors have ended
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

/// Device attributes, a function's attribute, a mode of capturing, and results.
inline constexpr int attribute_processors = 16, attribute_shared_of_processor = 81,
                     attribute_shared_of_group = 97, attribute_major = 75, attribute_minor = 76;
inline constexpr int function_shared_bytes = 8;
inline constexpr int capture_relaxed = 2;
inline constexpr int launch_programmatic_serialization = 6;
inline constexpr CUresult success = 0, out_of_memory = 2;

/// The functions of the driver; all are set.
struct Driver {
  CUresult (*cuInit)(unsigned flags);
  CUresult (*cuDriverGetVersion)(int* version);
  CUresult (*cuDeviceGetCount)(int* count);
  CUresult (*cuDeviceGet)(CUdevice* device, int ordinal);
  CUresult (*cuDeviceGetName)(char* name, int size, CUdevice device);
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

  /// What a result means, in the driver's words.
  std::string text_of(CUresult result) const;
};
// NOLINTEND(readability-identifier-naming)

/// The driver of this machine, loaded when it is first asked for and never unloaded; `library` is looked for.
/// Error: there is none, it is too old, or it cannot begin; a clause without a subject ("there is no CUDA
/// driver …").
Result<const Driver*> load_driver(const std::string& library = "libcuda.so.1");

}  // namespace spectr::cuda
