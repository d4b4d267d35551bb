#!/bin/sh
# What models cost on a GPU, on a machine that has one: builds, compares bits with the twins and texts with the
# processor's, and prints passes of 1 to 64 rows behind 512 tokens in four formats, tokens a second, and `auto` with a
# synthetic pair, beside a copy on the device. Made for eight minutes on one H100 with 16 cores.
#   bench/device/h100.sh [DEVICE [FOLDER]]    DEVICE: of --list-devices (CUDA0); FOLDER: of the build and the models
# Needs what a build needs (CONTRIBUTING.md), a compiler of kernels (clang 18 or later, or nvcc) and python3-numpy.
set -eu
root=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
device=${1:-CUDA0}
folder=${2:-$root/build/device}
spectr=$folder/bin/spectr
began=$(date +%s)
say() { printf '\n== %s (after %s s)\n' "$1" "$(($(date +%s) - began))"; }
mkdir -p "$folder"

say 'Models of 1.1 billion random weights, in the background'
for type in q8_0 q4_0 q4_k_m f16; do
  [ -f "$folder/$type.gguf" ] || {
    python3 "$root/microbench/make_pair.py" "$folder/$type.part" "$folder/$type-draft.gguf" --type "$type" --branch 0.05 &&
      mv "$folder/$type.part" "$folder/$type.gguf"
  } &
done

say Build
cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSPECTR_CUDA=AUTO >"$folder/configure.log" 2>&1 ||
  { tail -n 20 "$folder/configure.log"; exit 1; }
ninja -C "$folder" spectr_cli test_backend_fast >"$folder/build.log" || { tail -n 40 "$folder/build.log"; exit 1; }
"$spectr" generate --list-devices

say 'Bits of the twins, for every small model that the device has kernels for'
SPECTR_TEST_DEVICE=$device "$folder/tests/test_backend_fast" --gtest_filter='RealDevice*' --gtest_brief=1

say 'Waiting for the models'
wait

say "The processor's greedy text"
text() {
  "$spectr" generate -m "$folder/$1.gguf" -p 'Once upon' -n 48 --temp 0 --method plain --device "$2" 2>/dev/null
}
for type in q8_0 q4_k_m; do
  there=$(text "$type" "$device") && here=$(text "$type" none)
  if [ "$there" = "$here" ]; then
    echo "$type: the same"
  else
    printf '%s, on the device and on the processor:\n%s\n%s\n' "$type" "$there" "$here"
  fi
done

say 'Passes'
for type in q8_0 q4_0 q4_k_m f16; do
  "$spectr" bench widths -m "$folder/$type.gguf" --device "$device" --depths 512 --widths 1,2,4,8,16,32,64 -r 3
done

say 'Tokens a second'
for type in q8_0 q4_k_m; do
  "$spectr" bench pp tg -m "$folder/$type.gguf" --device "$device" -p 512 -n 128 -r 3
done

say '`auto` with a synthetic pair'
"$spectr" bench methods -m "$folder/q8_0.gguf" -md "$folder/q8_0-draft.gguf" --device "$device" --method auto --count 4 -n 128
say Done
