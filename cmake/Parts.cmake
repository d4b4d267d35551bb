# Dependencies of the library, all of them system packages. SPECTR_PARTS is passed to find_package: REQUIRED to build
# the library, QUIET in the installed package.
find_package(Threads ${SPECTR_PARTS})
find_package(fmt ${SPECTR_PARTS})
find_package(nlohmann_json ${SPECTR_PARTS})
find_package(PkgConfig ${SPECTR_PARTS})
pkg_check_modules(clp ${SPECTR_PARTS} IMPORTED_TARGET clp)
pkg_check_modules(hwy ${SPECTR_PARTS} IMPORTED_TARGET libhwy)
pkg_check_modules(pcre2 ${SPECTR_PARTS} IMPORTED_TARGET libpcre2-8)
pkg_check_modules(utf8proc ${SPECTR_PARTS} IMPORTED_TARGET libutf8proc)
pkg_check_modules(zlib ${SPECTR_PARTS} IMPORTED_TARGET zlib)
if(SPECTR_HAS_MPI)
  find_package(MPI ${SPECTR_PARTS} COMPONENTS CXX)
endif()
