# claims(FOLDER [USES ...]): the tests of tests/FOLDER, each a claim. Files named *_slow_test.cc carry the
# label "slow", all others "fast".
function(claims folder)
  cmake_parse_arguments(arg "" "" "USES" ${ARGN})
  file(GLOB all CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*_test.cc)
  set(slow ${all})
  list(FILTER slow INCLUDE REGEX "_slow_test\\.cc$")
  set(fast ${all})
  list(FILTER fast EXCLUDE REGEX "_slow_test\\.cc$")
  set(seconds 600)
  if(SPECTR_SANITIZE)
    set(seconds 3600)  # what a sanitizer looks at takes ten to a hundred times as long
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
  endforeach()
endfunction()
