# Where all packages are there, but cmake or the compiler is too old, ./run refuses in one line that says so.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin" "$scratch/a project"
cp -r "$1/run" "$1/tools" "$scratch/a project"
cat >"$scratch/bin/dpkg-query" <<'END'
#!/bin/sh
shift 3
printf '%s=installed ' "$@"
END
chmod +x "$scratch/bin/dpkg-query"

# refused VARIABLE=VALUE LINE: with this variable ./run says this and nothing else.
refused() {
  status=0
  answer=$(env PATH="$scratch/bin:$PATH" "$1" "$scratch/a project/run" 2>&1) || status=$?
  echo "$answer"
  [ "$status" = 1 ] && [ "$answer" = "spectr: error: $2" ]
}

printf '#!/bin/sh\necho 11.4.0\n' >"$scratch/bin/old-g++"
chmod +x "$scratch/bin/old-g++"
refused CXX=old-g++ 'the compiler old-g++ (GCC) is 11.4.0, but 12 or newer is needed'
refused CXX=no-g++ 'the compiler no-g++ (GCC) is missing: 12 or newer is needed'
printf '#!/bin/sh\necho cmake version 3.18.4\n' >"$scratch/bin/cmake"
chmod +x "$scratch/bin/cmake"
refused CXX=c++ 'cmake is 3.18.4, but 3.25 or newer is needed'
[ ! -e "$scratch/a project/build" ]
