// Keeps all libraries loaded until the program ends. A leak detector names the library that allocated a
// block, which is what tests/support/lsan.supp matches, only while the library is loaded, and Open MPI
// unloads its own.
extern "C" int dlclose(void* /*handle*/) {
  return 0;
}
