# layer_sees.sh PROJECT LAYER COMPILER INCLUDES: of all layers, the compiler finds the headers of those, and
# only those, that layers.txt gives to LAYER, when it is called with LAYER's include folders (a;b;c).
set -eu
project=$1 layer=$2 compiler=$3
here=$(dirname "$0")
seen="$layer $(sed -n "s|^$layer  *||p" "$here/layers.txt")"
old_ifs=$IFS
IFS=';'
set -f
folders=$4
set --
for folder in $folders; do [ -z "$folder" ] || set -- "$@" "-I$folder"; done
IFS=$old_ifs
set +f

failed=0
for other in $(sed -n 's/^\([a-z][a-z/]*\).*/\1/p' "$here/layers.txt"); do
  header=$(find "$project/spectr/$other" -maxdepth 1 -name '*.h' | sort | head -n 1)
  header=spectr/$other/${header##*/}
  answer=found
  said=$(echo "#include \"$header\"" | "$compiler" -std=c++23 "$@" -E -x c++ - 2>&1 >/dev/null) || answer=$said
  case " $seen " in *" $other "*) expected=found ;; *) expected="*error: *$header*" ;; esac
  case "$answer" in
    $expected) ;;
    *) echo "layer $layer, $header: expected \"$expected\", got: $answer" && failed=1 ;;
  esac
done
exit $failed
