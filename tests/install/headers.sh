# Checks that prefix/include folder $1 has the public headers and no others, which the source folder $2 has too, and
# that each compiles alone, in every standard that programs may use, by each of the C++ compilers that follow.
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
for compiler in "$@"; do
  for standard in c++20 c++23; do
    for header in $expected; do
      echo "#include <$header>" | "$compiler" -std=$standard "-I$include" -Wall -Wextra -Wpedantic -Wshadow -Wconversion \
        -Werror -fsyntax-only -x c++ - || { echo "$header does not compile alone: $compiler -std=$standard" && exit 1; }
    done
  done
  echo '#include <spectr/spectr.h>' | "$compiler" -std=c++20 -fno-exceptions -fno-rtti "-I$include" -Wall -Werror \
    -fsyntax-only -x c++ - || { echo "the headers need exceptions: $compiler" && exit 1; }
done
