# Checks that library $1 exports exactly the functions that header $2 declares and has a versioned SONAME.
set -eu
exported=$(nm -D --defined-only "$1" | sed 's/.* //; s/@.*//' | sort)
declared=$(grep -o 'spectr_[a-z_]*(' "$2" | tr -d '(' | sort -u)
if [ "$exported" != "$declared" ]; then
  echo "exported:" && echo "$exported"
  echo "declared:" && echo "$declared"
  exit 1
fi
readelf -d "$1" | grep 'SONAME.*\[libspectr\.so\.[0-9.]*\]'
