# cuda_kernels(TARGET): compiles kernels.cu to compressed PTX, which kernel_image.cc of the target embeds. For GPUs
# from Hopper on, there is an image for the products of each format in product_list.cuh and one for all other kernels;
# the same for older GPUs, with products from Ampere on and the others from Turing on. clang needs no CUDA toolkit;
# nvcc is used if there is no clang. Without either, the program is built without kernels (an error if
# SPECTR_CUDA=ON). SPECTR_HAS_CUDA is true if it has kernels.
function(cuda_kernels target)
  set(SPECTR_HAS_CUDA FALSE PARENT_SCOPE)
  set(folder ${PROJECT_SOURCE_DIR}/spectr/backend/cuda/kernels)
  set(generated ${PROJECT_BINARY_DIR}/generated)
  if(SPECTR_CUDA)
    find_program(SPECTR_CUDA_CLANG NAMES clang++-22 clang++-21 clang++-20 clang++-19 clang++-18)
    find_program(SPECTR_CUDA_NVCC NAMES nvcc)
  endif()
  set(flags -std=c++20 -O3 -I${PROJECT_SOURCE_DIR})
  if(SPECTR_CUDA AND SPECTR_CUDA_CLANG)
    # A fixed path without a toolkit, so that ccache shares the images between all builds.
    set(compile ${CMAKE_CXX_COMPILER_LAUNCHER} ${SPECTR_CUDA_CLANG} -x cuda --cuda-device-only
        --cuda-path=no_cuda_toolkit -nocudainc -nocudalib -Wno-unknown-cuda-version -ffp-contract=off -S ${flags})
    set(hopper --cuda-gpu-arch=sm_90 --cuda-feature=+ptx81)
    set(ampere --cuda-gpu-arch=sm_80)
    set(turing --cuda-gpu-arch=sm_75)
  elseif(SPECTR_CUDA AND SPECTR_CUDA_NVCC)
    set(compile ${SPECTR_CUDA_NVCC} -ptx -fmad=false --expt-relaxed-constexpr ${flags})
    set(hopper -arch=compute_90)
    set(ampere -arch=compute_80)
    set(turing -arch=compute_75)
  elseif(SPECTR_CUDA STREQUAL "ON")
    message(FATAL_ERROR "SPECTR_CUDA needs clang++ 18 or later, or nvcc, to compile kernels for GPUs")
  else()
    return()
  endif()
  set(SPECTR_HAS_CUDA TRUE PARENT_SCOPE)
  pkg_check_modules(lzma REQUIRED IMPORTED_TARGET liblzma)
  find_program(SPECTR_XZ NAMES xz REQUIRED)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cu ${folder}/*.cuh ${folder}/*.h)
  set(images "")
  set(listed "")
  function(cuda_image name)
    set(image ${PROJECT_BINARY_DIR}/cuda/${name}.ptx)
    add_custom_command(OUTPUT ${image}.xz COMMAND ${compile} ${ARGN} ${folder}/kernels.cu -o ${image}
                       COMMAND ${SPECTR_XZ} -k -f ${image}
                       DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/spectr/backend/cuda/product_shape.h
                       ${PROJECT_SOURCE_DIR}/spectr/backend/device/attention_rows.h
                       ${PROJECT_SOURCE_DIR}/spectr/backend/device/head_layout.h
                       ${PROJECT_SOURCE_DIR}/spectr/backend/device/state_rows.h
                       ${PROJECT_SOURCE_DIR}/spectr/backend/device/expert_group.h
                       ${PROJECT_SOURCE_DIR}/spectr/backend/device/weights/panel_format.h
                       COMMENT "Compiling ${name} for GPUs" VERBATIM)
    set(images ${images} ${image}.xz PARENT_SCOPE)
    set(listed "${listed}SPECTR_IMAGE(${name}, \"${image}.xz\")\n" PARENT_SCOPE)
  endfunction()
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/cuda)
  cuda_image(kernels ${hopper})
  cuda_image(kernels_before_hopper ${turing} -DSPECTR_BEFORE_HOPPER)
  set(product_list ${folder}/product_list.cuh)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${product_list})
  file(STRINGS ${product_list} formats REGEX "^SPECTR_PRODUCTS\\(product_")
  foreach(line IN LISTS formats)
    string(REGEX MATCH "\\((.*), (.*), (.*)\\)" ignored "${line}")
    set(product -DSPECTR_PRODUCT=${CMAKE_MATCH_1} -DSPECTR_FORMAT=${CMAKE_MATCH_2})
    cuda_image(${CMAKE_MATCH_1} ${hopper} ${product} -DSPECTR_SHAPES=SPECTR_SHAPES_${CMAKE_MATCH_3})
    cuda_image(${CMAKE_MATCH_1}_ampere ${ampere} ${product} -DSPECTR_BEFORE_HOPPER
               -DSPECTR_SHAPES=SPECTR_SHAPES_BY_THREADS)
  endforeach()
  file(CONFIGURE OUTPUT ${generated}/spectr/backend/cuda/images.inc CONTENT "${listed}")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/spectr/backend/cuda/kernel_image.cc PROPERTIES
                              COMPILE_DEFINITIONS SPECTR_HAS_KERNELS OBJECT_DEPENDS "${images}")
  target_include_directories(${target} PRIVATE ${generated})
  target_sources(${target} PRIVATE ${images})
  target_link_libraries(${target} PRIVATE PkgConfig::lzma)
endfunction()
