# Compile options of all targets of the project.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(spectr_compiler INTERFACE)
target_compile_options(spectr_compiler INTERFACE -Wall -Wextra -Wpedantic
                       "$<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor;-Woverloaded-virtual;-Wextra-semi>"
                       $<$<BOOL:${SPECTR_WERROR}>:-Werror>)
if(NOT CMAKE_UNITY_BUILD)  # in a unity build, names of one file would shadow those of the next
  target_compile_options(spectr_compiler INTERFACE -Wshadow)
endif()
# With optimisation, GCC 12 reports false positives of these two warnings inside libstdc++ and fmt. Clang reports
# std::stable_sort of GCC 12's libstdc++ for calling a deprecated function.
target_compile_options(spectr_compiler INTERFACE
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-restrict>
                       $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)

# On processors without any of its targets, Highway then uses scalar code on all compilers, as on GCC 12.2. Its
# alternative, EMU128, returns a finite maximum for vectors that are all minus infinity.
target_compile_definitions(spectr_compiler INTERFACE HWY_BROKEN_EMU128=1)

if(SPECTR_SANITIZE)
  add_compile_options(-fsanitize=${SPECTR_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SPECTR_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND SPECTR_SANITIZE MATCHES undefined)
    # As on GCC: Highway's own code converts NaN and discards the result.
    add_compile_options(-fno-sanitize=float-cast-overflow)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND SPECTR_SANITIZE MATCHES thread)
    # The thread sanitizer does not support fences, and GCC warns of each. Boost.Asio has fences around its handlers,
    # which its mutexes also order.
    add_compile_options(-Wno-tsan)
  endif()
  # Macros that GCC defines and Clang 19 does not.
  foreach(sanitizer IN ITEMS address thread)
    if(SPECTR_SANITIZE MATCHES ${sanitizer})
      string(TOUPPER __SANITIZE_${sanitizer}__=1 definition)
      add_compile_definitions(${definition})
    endif()
  endforeach()
endif()

# compile_quickly(): lowers the optimisation level of targets added after it, for code that mainly calls the libraries.
# A group of tests compiles in 26 s with -O1 instead of 45 s with -O3; under sanitizers, which multiply the code to be
# optimised, in 18 s with -O0 instead of 50 s with -O1.
macro(compile_quickly)
  if(SPECTR_SANITIZE)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-O0>)
  else()
    add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>)
  endif()
endmacro()

# Presets that build everything use unity builds (CMAKE_UNITY_BUILD): shared headers are parsed once per group, which
# saves a third of the CPU time. Names in unnamed namespaces must be unique within a target.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)

# compile_alone_where_needed(FILES...): excludes from unity builds files that Highway compiles once per instruction
# set, and kernels, whose helpers have the same names for each instruction set.
function(compile_alone_where_needed)
  foreach(file IN LISTS ARGN)
    file(STRINGS ${file} marks LIMIT_COUNT 1 REGEX "HWY_TARGET_INCLUDE|kernels/(before_target|matmul)\\.h")
    if(marks)
      set_source_files_properties(${file} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()
