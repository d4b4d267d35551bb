// Stands in for the library of NVIDIA's driver: two boards that take 100 W and 200 W, always.
extern "C" {
int nvmlInit_v2() {
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static char boards[2];
  *device = &boards[index];
  return index < 2 ? 0 : 1;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  void* first = nullptr;
  nvmlDeviceGetHandleByIndex_v2(0, &first);
  *milliwatts = device == first ? 100'000 : 200'000;
  return 0;
}
}
