# How every target of the project is compiled.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(spectr_compiler INTERFACE)
target_compile_options(spectr_compiler INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                       -Woverloaded-virtual -Wextra-semi $<$<BOOL:${SPECTR_WERROR}>:-Werror>)
# GCC 12 reports false alarms of these two kinds inside libstdc++ and fmt when it optimises.
target_compile_options(spectr_compiler INTERFACE
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-restrict>)

if(SPECTR_SANITIZE)
  add_compile_options(-fsanitize=${SPECTR_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SPECTR_SANITIZE})
endif()

if(SPECTR_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "SPECTR_FUZZ needs clang: -DCMAKE_CXX_COMPILER=clang++-19")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
