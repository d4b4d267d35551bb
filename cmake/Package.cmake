# Documents of an installation, and the Debian package of a build: `cpack --config build/release/CPackConfig.cmake` packs
# what `cmake --install` installs. dpkg-shlibdeps finds the packages that it depends on.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(FILES ARCHITECTURE.md CHANGELOG.md README.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png"
        PATTERN site EXCLUDE)
install(FILES apps/cli/spectr.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME spectr)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The authors of spectr" CACHE STRING "The maintainer in Debian packages: NAME <ADDRESS>")
set(CPACK_PACKAGE_DESCRIPTION "The program spectr generates text with GGUF models, serves them over HTTP and measures
them. The package also has a small pair of models, the laboratory, libspectr with its
headers for C and C++, and the documentation.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")  # docs/cpp.md, what is stable
# GPUs, the laboratory's pictures, processes of a job, and static linking.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libvulkan1, gnuplot-nox, openmpi-bin, libfmt-dev, coinor-libclp-dev, libhwy-dev, \
libpcre2-dev, libutf8proc-dev, liblzma-dev")
include(CPack)
