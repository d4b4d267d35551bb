# Packs build $1 into folder $2. Checks that the Debian package has version $3, depends on the libraries that its
# programs load, and holds exactly the files of installation $4; that its program is at most 32 MiB large and runs; and
# that its manual page has the program's commands.
set -eu
build=$1 work=$2 version=$3 installed=$4
fail() {
  echo "$*"
  exit 1
}
rm -rf "$work"
mkdir -p "$work"
cpack --config "$build/CPackConfig.cmake" -B "$work" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
package=$(echo "$work"/spectr_"$version"_*.deb)
[ "$(dpkg-deb --field "$package" Package Version)" = "Package: spectr
Version: $version" ] || fail "$(dpkg-deb --field "$package")"

depends=$(dpkg-deb --field "$package" Depends)
for library in libc6 libstdc++6 coinor-libclp libfmt libhwy libpcre2-8 libutf8proc; do
  case ", $depends" in *", $library"*) ;; *) fail "no dependency on $library: $depends" ;; esac
done

dpkg-deb --contents "$package" | awk '$1 !~ /^d/ { sub("^\\./usr/", "", $6); print $6 }' | sort >"$work/packed"
(cd "$installed" && find . ! -type d | sed 's|^\./||' | sort) >"$work/installed"
diff "$work/installed" "$work/packed"
for file in bin/spectr bin/spectr-lab include/spectr.h include/spectr/plan.h share/man/man1/spectr.1 \
  share/doc/spectr/copyright share/doc/spectr/docs/README.md share/spectr/models/spectr-stories-7m-q8_0.gguf; do
  grep -qxF "$file" "$work/packed" || fail "the package has no $file"
done
grep -qE '^lib(/[^/]+)?/libspectr\.so$' "$work/packed" || fail "the package has no libspectr.so"

dpkg-deb -x "$package" "$work/root"
program=$work/root/usr/bin/spectr
size=$(stat -c %s "$program")
[ "$size" -le $((32 << 20)) ] || fail "the program has $size bytes, more than 32 MiB"
"$program" --version | grep -qF "$version" || fail "$("$program" --version)"
"$program" generate -p "Once upon a time" -n 8 --json | grep -q '"generated":' || fail "generate prints no statistics"
"$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]\{1,\}\)  .*/\1/p' | sort >"$work/commands"
sed -n '/^\.SH COMMANDS/,/^\.SH OPTIONS/s/^\.B \(.*\)/\1/p' "$work/root/usr/share/man/man1/spectr.1" | tr -d '\\' |
  sort >"$work/manual"
[ -s "$work/commands" ] || fail "the program shows no commands"
diff "$work/commands" "$work/manual"
