# tools/pinned unpacks packages by their hashes, from its cache or a mirror, and says which one is gone.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
command -v dpkg-deb >/dev/null || exit 0
mkdir -p "$scratch/made/DEBIAN" "$scratch/made/usr/share" "$scratch/mirror/pool"
printf 'Package: a\nVersion: 1\nArchitecture: all\nMaintainer: A <a@b>\nDescription: a\n' >"$scratch/made/DEBIAN/control"
echo text >"$scratch/made/usr/share/file"
dpkg-deb -Znone -b "$scratch/made" "$scratch/mirror/pool/a_1.deb" >/dev/null
hash=$(sha256sum "$scratch/mirror/pool/a_1.deb" | cut -d ' ' -f 1)
printf '# wanted: a\n# day: 20260101T000000Z\n%s pool/a_1.deb\n' "$hash" >"$scratch/list"
export XDG_CACHE_HOME="$scratch/cache" SPECTR_MIRRORS="copy:$scratch/mirror"

# expect STATUS: of unpacking the list.
expect() {
  status=0
  "$1/tools/pinned" "$scratch/list" "$scratch/root" >"$scratch/log" 2>&1 || status=$?
  cat "$scratch/log"
  [ "$status" = "$2" ]
}
expect "$1" 0
[ "$(cat "$scratch/root/usr/share/file")" = text ]
rm -r "$scratch/mirror" "$scratch/root"
expect "$1" 0  # from the cache
[ -f "$scratch/root/usr/share/file" ]
printf '%064d pool/b_1.deb\n' 0 >>"$scratch/list"
expect "$1" 77
grep -q 'pool/b_1.deb is not served any more' "$scratch/log"
