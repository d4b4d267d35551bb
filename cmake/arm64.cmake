# Cross-compiles for 64-bit ARM with Debian's compiler and runs the programs with QEMU. The libraries are in
# build/arm64-root, where tools/ci/neon unpacks the packages of tools/pins/arm64.txt.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CXX_FLAGS_INIT -ffp-contract=off)  # for tests, too, which compute the kernels' expected results

cmake_path(SET root NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../build/arm64-root)
set(libraries ${root}/usr/lib/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind IN ITEMS LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/pkgconfig:${root}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${root})
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,\"${libraries}\"")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64;-L;${root})
