# Writes OUTPUT, a header that defines SPECTR_BUILD_IDENTITY, a hash of all files in SOURCES and of COMPILER (the
# compiler with its flags), and SPECTR_COMMIT, the commit of the repository, or an empty string if there is none.
# Every build runs it:
#   cmake -D SOURCES=… -D COMPILER=… -D OUTPUT=… -P cmake/BuildIdentity.cmake
# An unchanged header is not rewritten, so nothing is recompiled.
cmake_policy(VERSION 3.25)
file(GLOB_RECURSE files RELATIVE ${SOURCES} ${SOURCES}/*)
list(SORT files)
set(all "${COMPILER}\n")
foreach(file IN LISTS files)
  file(SHA256 ${SOURCES}/${file} hash)
  string(APPEND all "${hash} ${file}\n")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 16 hash)
set(commit "")
execute_process(COMMAND git -C ${SOURCES} rev-parse --short=12 HEAD
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "")
endif()
file(CONFIGURE OUTPUT ${OUTPUT}
     CONTENT "#define SPECTR_BUILD_IDENTITY 0x${hash}\n#define SPECTR_COMMIT \"${commit}\"\n")
