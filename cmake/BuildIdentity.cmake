# Writes OUTPUT, a header that defines SPECTR_BUILD_IDENTITY: a hash of all files of the folder SOURCES and of COMPILER,
# the compiler with its flags. Every build runs it:
#   cmake -D SOURCES=… -D COMPILER=… -D OUTPUT=… -P cmake/BuildIdentity.cmake
# A header that is right already is left alone, so nothing is compiled again.
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
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define SPECTR_BUILD_IDENTITY 0x${hash}\n")
