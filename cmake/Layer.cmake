# layer(NAME [FOLDERS ...] [USES ...] [HIDES ...]): defines the library target spectr_NAME for the folder
# spectr/NAME (spectr_backend_cpu for backend/cpu), including its subfolders FOLDERS.
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
  set_target_properties(${target} PROPERTIES EXPORT_NAME internal_${short} LAYER ${name})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${root}>)
  target_compile_features(${target} PUBLIC cxx_std_23)
  targets_of_layers(uses ${arg_USES})
  targets_of_layers(hides ${arg_HIDES})
  target_link_libraries(${target} PUBLIC ${uses} PRIVATE ${hides})
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:spectr_compiler>)

  set(SPECTR_LAYERS ${SPECTR_LAYERS} ${target} PARENT_SCOPE)
endfunction()
