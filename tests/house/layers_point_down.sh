# Every file of the library of project $1 includes only layers that layers.txt allows it, and its own; every folder
# below spectr/ is a layer of layers.txt, or holds such layers.
here=$(dirname "$0")
layers=$(sed -n 's/^\([a-z][a-z/]*\).*/\1/p' "$here/layers.txt")
{
  for folder in "$1"/spectr/*/ "$1"/spectr/backend/*/; do
    layer=${folder#"$1"/spectr/}
    layer=${layer%/}
    [ -d "$folder" ] && ! echo "$layers" | grep -qE "^$layer(/|\$)" && echo "$layer: not a layer of layers.txt"
  done
  for layer in $layers; do
    [ -d "$1/spectr/$layer" ] || continue
    allowed=$(sed -n "s|^$layer  *||p" "$here/layers.txt")
    may=$(echo "$layer $allowed" | tr -s ' ' '|')
    grep -rnE '^ *# *include *["<]spectr/' "$1/spectr/$layer" | grep -vE "[\"<]spectr/(${may%|})/"
  done
} | { ! grep .; }
