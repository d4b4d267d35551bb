# How every target of the project is compiled.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(spectr_compiler INTERFACE)
target_compile_options(spectr_compiler INTERFACE -Wall -Wextra -Wpedantic
                       "$<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor;-Woverloaded-virtual;-Wextra-semi>"
                       $<$<BOOL:${SPECTR_WERROR}>:-Werror>)
if(NOT CMAKE_UNITY_BUILD)  # in groups of files, names of one file would count as shadowed in the next
  target_compile_options(spectr_compiler INTERFACE -Wshadow)
endif()
# GCC 12 reports false alarms of these two kinds inside libstdc++ and fmt when it optimises; to Clang the
# std::stable_sort of GCC 12's libstdc++ calls what is deprecated.
target_compile_options(spectr_compiler INTERFACE
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-restrict>
                       $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)

# Where a processor has none of its targets, Highway computes lane by lane on all compilers, as it does on GCC 12.2: in its
# other way, EMU128, lanes that are all minus infinity have a finite maximum.
target_compile_definitions(spectr_compiler INTERFACE HWY_BROKEN_EMU128=1)

if(SPECTR_SANITIZE)
  add_compile_options(-fsanitize=${SPECTR_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SPECTR_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND SPECTR_SANITIZE MATCHES undefined)
    # As with GCC: Highway's own code converts what is no number, and does not use what it gets.
    add_compile_options(-fno-sanitize=float-cast-overflow)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND SPECTR_SANITIZE MATCHES thread)
    # The thread sanitizer knows no fences, and GCC warns of each: Boost.Asio has them around its handlers, which are
    # ordered by its mutexes as well.
    add_compile_options(-Wno-tsan)
  endif()
  # What GCC defines and Clang 19 does not.
  foreach(sanitizer IN ITEMS address thread)
    if(SPECTR_SANITIZE MATCHES ${sanitizer})
      string(TOUPPER __SANITIZE_${sanitizer}__=1 definition)
      add_compile_definitions(${definition})
    endif()
  endforeach()
endif()

# compile_quickly(): for what the folder adds from here on, which calls the libraries and computes little itself. A group
# of tests compiles in 26 s with -O1 where -O3 takes 45; under sanitizers, which multiply the code that an optimiser
# reads, in 18 s with -O0 where -O1 takes 50.
macro(compile_quickly)
  if(SPECTR_SANITIZE)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-O0>)
  else()
    add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>)
  endif()
endmacro()

# Presets that build everything compile files in groups (CMAKE_UNITY_BUILD): the headers that a group shares are read
# once, which takes a third of the processor time. Names in unnamed namespaces must differ within a target.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)

# compile_alone_where_needed(FILES...): keeps files out of groups that Highway compiles once for each instruction set,
# and kernels, whose helpers have the same names for each of them.
function(compile_alone_where_needed)
  foreach(file IN LISTS ARGN)
    file(STRINGS ${file} marks LIMIT_COUNT 1 REGEX "HWY_TARGET_INCLUDE|kernels/(before_target|matmul)\\.h")
    if(marks)
      set_source_files_properties(${file} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()
