# layer(NAME [FOLDERS ...] [USES ...] [HIDES ...]): defines the library target spectr::NAME for the folder
# spectr/NAME (spectr::backend_cpu for backend/cpu), including its subfolders FOLDERS.
#
# A target sees the headers of a layer only by linking to it: each layer has a separate include root,
# build/include/NAME, which contains only spectr/NAME. An undeclared dependency does not compile.
set(SPECTR_LAYERS "")

# Replaces names of layers among LINKS by their targets; others, such as fmt::fmt, are kept.
function(targets_of_layers result)
  set(targets "")
  foreach(link IN LISTS ARGN)
    if(link MATCHES "^[a-z/]+$")
      string(REPLACE / _ link spectr_${link})
    endif()
    list(APPEND targets ${link})
  endforeach()
  set(${result} ${targets} PARENT_SCOPE)
endfunction()

function(layer name)
  cmake_parse_arguments(arg "" "" "FOLDERS;USES;HIDES" ${ARGN})
  string(REPLACE / _ short ${name})
  set(target spectr_${short})
  set(files "")
  foreach(folder IN ITEMS ${name} LISTS arg_FOLDERS)
    if(NOT folder STREQUAL name)
      string(PREPEND folder ${name}/)
    endif()
    file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/spectr/${folder}/*.cc
         ${PROJECT_SOURCE_DIR}/spectr/${folder}/*.h)
    list(APPEND files ${found})
  endforeach()
  set(root ${PROJECT_BINARY_DIR}/include/${short})
  cmake_path(GET name PARENT_PATH above)
  file(MAKE_DIRECTORY ${root}/spectr/${above})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/spectr/${name} ${root}/spectr/${name} SYMBOLIC)

  compile_alone_where_needed(${files})
  add_library(${target} STATIC ${files})
  add_library(spectr::${short} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${short} LAYER ${name})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${root}>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} PUBLIC cxx_std_23)
  targets_of_layers(uses ${arg_USES})
  targets_of_layers(hides ${arg_HIDES})
  target_link_libraries(${target} PUBLIC ${uses} PRIVATE ${hides})
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:spectr_compiler>)

  set(SPECTR_LAYERS ${SPECTR_LAYERS} ${target} PARENT_SCOPE)
endfunction()

# library_of_layers(): defines spectr::spectr, the whole library as one target, which is installed with its
# headers and exported as a CMake package.
function(library_of_layers)
  add_library(spectr INTERFACE)
  add_library(spectr::spectr ALIAS spectr)
  target_link_libraries(spectr INTERFACE ${SPECTR_LAYERS})

  include(CMakePackageConfigHelpers)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/spectr)
  install(TARGETS spectr ${SPECTR_LAYERS} EXPORT spectr ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT spectr NAMESPACE spectr:: DESTINATION ${package_dir} FILE spectrTargets.cmake)
  install(DIRECTORY spectr/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/spectr FILES_MATCHING PATTERN "*.h"
          PATTERN "*-inl.h" EXCLUDE)
  configure_package_config_file(cmake/spectrConfig.cmake.in ${PROJECT_BINARY_DIR}/spectrConfig.cmake
                                INSTALL_DESTINATION ${package_dir})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/spectrConfigVersion.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/spectrConfig.cmake ${PROJECT_BINARY_DIR}/spectrConfigVersion.cmake
                cmake/Parts.cmake DESTINATION ${package_dir})
endfunction()
