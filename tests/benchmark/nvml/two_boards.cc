// A fake of NVIDIA's NVML library: two boards that always draw 100 W and 200 W.
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
