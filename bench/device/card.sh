#!/bin/sh
# Packs the program spectr-card for a machine with a GPU, and runs it there. The packed folder has the libraries that
# the program needs, so the other machine needs none but glibc's and the driver.
#   bench/device/card.sh pack [FOLDER]      builds spectr-card (release preset) and packs it into FOLDER (build/card)
#   bench/device/card.sh run [ARGUMENT…]    runs the packed program of build/card; its results go to build/card.json
#   bench/device/card.sh on HOST [ARGUMENT…]    packs, copies the folder and the small models to HOST, and runs it there
set -eu
root=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
models='tests/data/arch tests/data/arch2'

pack() {
  folder=$1
  . "$root/tools/setup.sh"
  need core test
  configure release
  ninja -C "$root/build/release" spectr-card
  rm -rf "$folder"
  mkdir -p "$folder/lib"
  program=$root/build/release/bin/spectr-card
  newest=$(objdump -T "$program" | grep -o 'GLIBC_2\.[0-9]*' | sort -t . -k 2 -n | tail -n 1)
  echo "it needs $newest"
  cp "$program" "$folder/"
  strip "$folder/spectr-card"
  # The C library and its parts belong to the system that runs the program.
  ldd "$program" | awk '$3 ~ "^/" && $1 !~ "^(libc|libm|libpthread|libdl|librt)[.]so" { print $3 }' |
    while read -r library; do cp -L "$library" "$folder/lib/"; done
  du -sh "$folder"
}

run() {
  SPECTR_SOURCE_DIR=$root "$root/build/card/spectr-card" --json "$root/build/card.json" "$@"
}

case ${1-} in
  pack) pack "${2:-$root/build/card}" ;;
  run)
    shift
    run "$@"
    ;;
  on)
    host=$2
    shift 2
    pack "$root/build/card"
    # shellcheck disable=SC2086 # several folders are meant
    tar -C "$root" -cz build/card bench/device/card.sh $models |
      ssh "$host" 'mkdir -p spectr-card && tar -C spectr-card -xz'
    # shellcheck disable=SC2029 # the arguments are meant to be expanded here
    ssh "$host" "spectr-card/bench/device/card.sh run $*"
    ;;
  *)
    sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
