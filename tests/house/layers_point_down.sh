# Every file of the library of project $1 includes only layers that layers.txt allows it, and its own.
here=$(dirname "$0")
for folder in "$1"/spectr/*/; do
  layer=$(basename "$folder")
  allowed=$(sed -n "s/^$layer\( .*\)*\$/\1/p" "$here/layers.txt")
  if ! grep -qE "^$layer( |\$)" "$here/layers.txt"; then
    echo "$layer: not a layer of layers.txt"
    continue
  fi
  may=$(echo "$layer $allowed" | tr -s ' ' '|')
  grep -rnE '^ *# *include *["<]spectr/' "$folder" | grep -vE "[\"<]spectr/(${may%|})/"
done | { ! grep .; }
