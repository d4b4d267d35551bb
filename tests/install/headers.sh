# Checks that prefix/include folder $1 has the public headers and no others, which the source folder $2 has too. Each
# compiles alone as C++20, and all together as C++23 and without exceptions, by each of the C++ compilers that follow.
set -eu
include=$1 source=$2
shift 2
expected=$({ echo spectr.h && cd "$source/include" && find spectr -name '*.h'; } | sort)
installed=$(cd "$include" && find . -type f | sed 's|^\./||' | sort)
if [ "$installed" != "$expected" ]; then
  echo "installed:" && echo "$installed"
  echo "expected:" && echo "$expected"
  exit 1
fi

# compiles HEADER COMPILER FLAGS…
compiles() {
  header=$1 compiler=$2
  shift 2
  echo "#include <$header>" | "$compiler" "$@" "-I$include" -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror \
    -fsyntax-only -x c++ - || { echo "$header: $compiler $*" && exit 1; }
}
for compiler in "$@"; do
  for header in $expected; do compiles "$header" "$compiler" -std=c++20; done
  compiles spectr/spectr.h "$compiler" -std=c++23
  compiles spectr/spectr.h "$compiler" -std=c++20 -fno-exceptions -fno-rtti
done
