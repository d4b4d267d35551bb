# Optional components in addition to the core command line, which generates text and inspects models:
#   server   `spectr serve`                       needs Boost, OpenSSL, spdlog
#   bench    `spectr bench`, `spectr plan`        needs SQLite (or SPECTR_SQLITE=OFF)
#   lab      `spectr lab`
#   gpu      `--device`                           needs compilers for kernels, see SPECTR_CUDA and SPECTR_VULKAN
#   mpi      `--shard`                            needs MPI, see SPECTR_MPI
#   capi     libspectr.so, the C and C++ interfaces, and the CMake package
#   grammar  `--grammar`, `--json-schema`, also in the server  (SPECTR_GRAMMAR=OFF excludes them from all builds)
#   kernels  kernels of all processors; otherwise only those that run best on the building machine
# ./run builds what a command needs. A command whose component is missing says so.
set(known server bench lab gpu mpi capi grammar kernels)
set(SPECTR_COMPONENTS all CACHE STRING "What to build beside the core: all, or a list of ${known}")

foreach(component IN LISTS SPECTR_COMPONENTS)
  if(NOT component IN_LIST known AND NOT component MATCHES "^(all|core)$")
    message(FATAL_ERROR "SPECTR_COMPONENTS: ${component} is none of all, core, ${known}")
  endif()
endforeach()
# Defines SPECTR_WITH_SERVER, SPECTR_WITH_BENCH, ….
foreach(component IN LISTS known)
  string(TOUPPER ${component} name)
  if(SPECTR_COMPONENTS MATCHES "^all$" OR component IN_LIST SPECTR_COMPONENTS)
    set(SPECTR_WITH_${name} ON)
  else()
    set(SPECTR_WITH_${name} OFF)
    if(SPECTR_TESTS OR SPECTR_BENCH)
      message(FATAL_ERROR "SPECTR_TESTS and SPECTR_BENCH need all components, and SPECTR_COMPONENTS leaves out ${component}")
    endif()
  endif()
endforeach()
unset(known)

# Selects kernels by the names of their files kernels_NAME.cc: all kernels of the architecture, or, without the
# component "kernels", those that run best on this machine according to the CPU features that Linux lists.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND SPECTR_SANITIZE MATCHES thread)
  set(SPECTR_KERNELS avx2)  # all kernels run on the same threads, and the others take minutes to compile
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(SPECTR_KERNELS avx2 avx2_vnni avx512 avx512_vnni amx)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(SPECTR_KERNELS neon neon_dot)
else()
  set(SPECTR_KERNELS "")
endif()
if(NOT SPECTR_WITH_KERNELS AND EXISTS /proc/cpuinfo AND NOT CMAKE_CROSSCOMPILING)
  file(STRINGS /proc/cpuinfo features LIMIT_COUNT 1 REGEX "^(flags|Features)[ \t]*:")
  if(features MATCHES " amx_int8")
    set(SPECTR_KERNELS avx512_vnni amx)
  elseif(features MATCHES " avx512_vnni")
    set(SPECTR_KERNELS avx512_vnni)
  elseif(features MATCHES " avx512bw")
    set(SPECTR_KERNELS avx512)
  elseif(features MATCHES " avx_vnni")
    set(SPECTR_KERNELS avx2_vnni)
  elseif(features MATCHES " avx2")
    set(SPECTR_KERNELS avx2)
  elseif(features MATCHES " asimddp")
    set(SPECTR_KERNELS neon_dot)
  endif()
  unset(features)
endif()
list(PREPEND SPECTR_KERNELS portable)

# built_kernels(TARGET): restricts TARGET to the files of SPECTR_KERNELS and generates their list for kernel_set.cc.
function(built_kernels target)
  set(list "")
  foreach(name IN LISTS SPECTR_KERNELS)
    string(APPEND list "SPECTR_KERNELS(${name})\n")
  endforeach()
  set(generated ${PROJECT_BINARY_DIR}/generated/kernels)
  file(CONFIGURE OUTPUT ${generated}/spectr/backend/cpu/kernels/built_kernels.inc CONTENT "${list}")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/spectr/backend/cpu/kernels/kernel_set.cc PROPERTIES
                              INCLUDE_DIRECTORIES ${generated})
  list(JOIN SPECTR_KERNELS "|" names)
  get_target_property(files ${target} SOURCES)
  foreach(file IN LISTS files)
    if(file MATCHES "/kernels_[a-z0-9_]+\\.cc$" AND NOT file MATCHES "/kernels_(${names})\\.cc$")
      set_source_files_properties(${file} PROPERTIES HEADER_FILE_ONLY ON)
    endif()
  endforeach()
endfunction()
