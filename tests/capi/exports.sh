# Checks that library $1 exports exactly the functions that header $2 declares and the version script $3 lists, under
# the script's version, and has a versioned SONAME. Checks that the objects of the archives that follow hide all other
# symbols of spectr.
set -eu
library=$1
symbols=$(nm -D --defined-only "$1" | sed 's/.* //')
version=$(sed -n 's/^\(SPECTR_[0-9.]*\) {$/\1/p' "$3")
exported=$(echo "$symbols" | sed "s/@@$version\$//" | grep -vx "$version" | sort)
declared=$(grep -o 'spectr_[a-z_]*(' "$2" | tr -d '(' | sort -u)
listed=$(sed -n 's/^ *\(spectr_[a-z_]*\);$/\1/p' "$3" | sort)
if [ "$exported" != "$declared" ] || [ "$exported" != "$listed" ]; then
  echo "exported:" && echo "$exported"
  echo "declared:" && echo "$declared"
  echo "listed:" && echo "$listed"
  exit 1
fi
shift 3
for archive; do
  visible=$(readelf -sW "$archive" | awk '$5 != "LOCAL" && $6 == "DEFAULT" && $7 != "UND" && $8 ~ /^_ZNK?6spectr/ { print $8 }')
  [ -z "$visible" ] || { echo "$archive: visible:" && echo "$visible" && exit 1; }
done
readelf -d "$library" | grep "SONAME.*\[libspectr\.so\.${version#SPECTR_}\]"
