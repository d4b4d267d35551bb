# vulkan_kernels(TARGET): compiles the Vulkan kernels to SPIR-V, which kernel_code.cc of the target embeds. Requires
# glslc and the Vulkan headers; without them, the target is built without kernels (an error if SPECTR_VULKAN=ON).
# SPECTR_HAS_VULKAN is true if it has kernels.
#
# glslc must not optimise: when it unrolls loops, it drops the marks that forbid fusing products and sums.
function(vulkan_kernels target)
  set(generated ${PROJECT_BINARY_DIR}/generated)
  if(SPECTR_VULKAN)
    find_program(SPECTR_GLSLC NAMES glslc)
    find_path(SPECTR_VULKAN_HEADERS vulkan/vulkan_core.h)
  endif()
  if(SPECTR_VULKAN AND SPECTR_GLSLC AND SPECTR_VULKAN_HEADERS)
    set(SPECTR_HAS_VULKAN TRUE PARENT_SCOPE)
  elseif(SPECTR_VULKAN STREQUAL "ON")
    message(FATAL_ERROR "SPECTR_VULKAN needs glslc and the headers of Vulkan 1.3 (on Debian: glslc, libvulkan-dev)")
  else()
    set(SPECTR_HAS_VULKAN FALSE PARENT_SCOPE)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "/(not_built\\.cc|vulkan_devices\\.h)$")
    set_target_properties(${target} PROPERTIES SOURCES "${sources}")
    return()
  endif()

  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX "/not_built\\.cc$")
  set_target_properties(${target} PROPERTIES SOURCES "${sources}")
  vulkan_words(${SPECTR_GLSLC} ${generated})
  set(code ${PROJECT_SOURCE_DIR}/spectr/backend/vulkan/kernel_code.cc)
  set_source_files_properties(${code} PROPERTIES OBJECT_DEPENDS "${made}" COMPILE_DEFINITIONS "${matrices}")
  target_include_directories(${target} PRIVATE ${generated})
  target_sources(${target} PRIVATE ${made})
  add_custom_target(vulkan_words DEPENDS ${made})  # files that clang-tidy needs
endfunction()

# vulkan_words(GLSLC FOLDER): compiles the kernels into FOLDER as lists of numbers. Sets `made` to these files and
# `matrices` to the definition SPECTR_HAS_MATRICES if glslc supports GL_KHR_cooperative_matrix.
function(vulkan_words glslc folder)
  set(kernels ${PROJECT_SOURCE_DIR}/spectr/backend/vulkan/kernels)
  set(words ${folder}/spectr/backend/vulkan/words)
  file(GLOB shared CONFIGURE_DEPENDS ${kernels}/*.glsl)
  set(made "")
  set(arrays "")
  function(vulkan_kernel name source)
    set(out ${words}/${name}.inc)
    add_custom_command(OUTPUT ${out}
                       COMMAND ${glslc} --target-env=vulkan1.3 -mfmt=num ${ARGN} ${kernels}/${source}.comp -o ${out}
                       DEPENDS ${kernels}/${source}.comp ${shared}
                       COMMENT "Compiling the Vulkan kernel ${name}" VERBATIM)
    set(made ${made} ${out} PARENT_SCOPE)
    set(arrays "${arrays}constexpr std::uint32_t ${name}[] = {\n#include \"spectr/backend/vulkan/words/${name}.inc\"\n};\n" PARENT_SCOPE)
  endfunction()
  file(MAKE_DIRECTORY ${words})
  foreach(name IN ITEMS quantize panel_product float_product rope attend choose_experts group_experts add_chosen combine
          move copy_heads spread extra_token_logits top sum_exp store_inputs convolve prepare_heads multiply_keys recur)
    vulkan_kernel(${name} ${name})
  endforeach()
  foreach(name IN ITEMS elementwise norm merge)
    vulkan_kernel(${name} ${name} -DQUANTIZES=0)
    vulkan_kernel(${name}_quantized ${name} -DQUANTIZES=1)
  endforeach()
  # Test whether glslc supports matrices by compiling the kernel: Debian 13's does, Debian 12's does not.
  execute_process(COMMAND ${glslc} --target-env=vulkan1.3 ${kernels}/matrix_product.comp -o ${words}/matrix_product.spv
                  RESULT_VARIABLE failure OUTPUT_QUIET ERROR_QUIET)
  set(matrices "" PARENT_SCOPE)
  if(failure EQUAL 0)
    vulkan_kernel(matrix_product matrix_product)
    set(matrices SPECTR_HAS_MATRICES PARENT_SCOPE)
  else()
    message(STATUS "${glslc} knows no GL_KHR_cooperative_matrix: wide products by Vulkan do without")
  endif()
  file(CONFIGURE OUTPUT ${words}/all.inc CONTENT "${arrays}" @ONLY)
  set(made ${made} PARENT_SCOPE)
endfunction()
