# cuda_kernels(TARGET): kernels.cu as PTX for every GPU from Hopper on, which kernel_image.cc of the target holds.
# clang does without a toolkit; nvcc is asked where there is no clang. Without either the program says that it was
# built so (SPECTR_CUDA=ON: it is not built).
function(cuda_kernels target)
  set(folder ${PROJECT_SOURCE_DIR}/spectr/backend/cuda/kernels)
  set(image ${PROJECT_BINARY_DIR}/spectr_kernels.ptx)
  if(SPECTR_CUDA)
    find_program(SPECTR_CUDA_CLANG NAMES clang++-22 clang++-21 clang++-20 clang++-19 clang++-18)
    find_program(SPECTR_CUDA_NVCC NAMES nvcc)
  endif()
  set(flags -std=c++20 -O3 -I${PROJECT_SOURCE_DIR})
  if(SPECTR_CUDA AND SPECTR_CUDA_CLANG)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/no_cuda_toolkit)
    set(compile ${SPECTR_CUDA_CLANG} -x cuda --cuda-device-only --cuda-gpu-arch=sm_90 --cuda-feature=+ptx81
        --cuda-path=${PROJECT_BINARY_DIR}/no_cuda_toolkit -nocudainc -nocudalib -Wno-unknown-cuda-version
        -ffp-contract=off -S ${flags})
  elseif(SPECTR_CUDA AND SPECTR_CUDA_NVCC)
    set(compile ${SPECTR_CUDA_NVCC} -ptx -arch=compute_90 -fmad=false --expt-relaxed-constexpr ${flags})
  elseif(SPECTR_CUDA STREQUAL "ON")
    message(FATAL_ERROR "SPECTR_CUDA needs clang++ 18 or later, or nvcc, to compile kernels for GPUs")
  else()
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cu ${folder}/*.cuh ${folder}/*.h)
  add_custom_command(OUTPUT ${image} COMMAND ${compile} ${folder}/kernels.cu -o ${image}
                     DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/spectr/backend/cuda/product_shape.h
                     ${PROJECT_SOURCE_DIR}/spectr/backend/device/attention_rows.h
                     ${PROJECT_SOURCE_DIR}/spectr/backend/device/head_layout.h
                     COMMENT "Compiling the kernels for GPUs" VERBATIM)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/spectr/backend/cuda/kernel_image.cc PROPERTIES
                              COMPILE_DEFINITIONS SPECTR_KERNEL_IMAGE="${image}" OBJECT_DEPENDS ${image})
  target_sources(${target} PRIVATE ${image})
endfunction()
