# claims(FOLDER [SHARDS NUMBER] [USES ...]): registers the tests of tests/FOLDER, each named as a claim. Files named
# *_slow_test.cc carry the label "slow", all others "fast".
#
# Plain ctest runs each of the two programs as NUMBER shards (default: 2), FOLDER.fast_1of2 and so on. A shard starts one
# process for many tests and loads what they share once. `ctest -C Each` runs every test by its own name in a process of
# its own. The preset "dev" chooses this; SHARDS has no effect there.
function(claims folder)
  cmake_parse_arguments(arg "" "SHARDS" "USES" ${ARGN})
  if(NOT arg_SHARDS)
    set(arg_SHARDS 2)
  endif()
  file(GLOB all CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*_test.cc)
  set(slow ${all})
  list(FILTER slow INCLUDE REGEX "_slow_test\\.cc$")
  set(fast ${all})
  list(FILTER fast EXCLUDE REGEX "_slow_test\\.cc$")
  set(seconds 600)
  if(SPECTR_SANITIZE)
    set(seconds 3600)  # sanitizers slow tests down by a factor of ten to a hundred
  endif()
  foreach(label IN ITEMS fast slow)
    if(NOT ${label})
      continue()
    endif()
    set(target test_${folder}_${label})
    add_executable(${target} ${${label}})
    target_link_libraries(${target} PRIVATE spectr_compiler test_support GTest::gmock_main ${arg_USES})
    gtest_discover_tests(${target} TEST_PREFIX ${folder}. DISCOVERY_MODE PRE_TEST
                         PROPERTIES LABELS ${label} TIMEOUT ${seconds})
    math(EXPR seconds_of_shard "3 * ${seconds}")
    shards_or_each(${target} ${folder}.${label} ${arg_SHARDS} "LABELS;${label};TIMEOUT;${seconds_of_shard}")
  endforeach()
endfunction()

# shards_or_each(TARGET NAME NUMBER PROPERTIES): includes what gtest_discover_tests has just generated only under
# `ctest -C Each`, and registers the shards otherwise.
function(shards_or_each target name number properties)
  get_property(includes DIRECTORY PROPERTY TEST_INCLUDE_FILES)
  list(POP_BACK includes each)
  set(chosen ${CMAKE_CURRENT_BINARY_DIR}/${target}_tests.cmake)
  list(JOIN properties " " properties)
  list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " CMAKE_CROSSCOMPILING_EMULATOR)
  file(GENERATE OUTPUT ${chosen} CONTENT "if(CTEST_CONFIGURATION_TYPE STREQUAL \"Each\")
  include(\"${each}\")
  return()
endif()
foreach(shard RANGE 1 ${number})
  math(EXPR index \"\${shard} - 1\")
  add_test(\"${name}_\${shard}of${number}\" ${CMAKE_CROSSCOMPILING_EMULATOR} \"$<TARGET_FILE:${target}>\")
  set_tests_properties(\"${name}_\${shard}of${number}\" PROPERTIES ${properties}
                       ENVIRONMENT \"GTEST_TOTAL_SHARDS=${number};GTEST_SHARD_INDEX=\${index}\")
endforeach()
")
  set_property(DIRECTORY PROPERTY TEST_INCLUDE_FILES ${includes} ${chosen})
endfunction()
