# Only the files of spectr/nn/arch of the project $1 know an architecture's name: neither the graph nor a backend does.
names=$(sed -n 's/.*{"\([a-z0-9-]*\)", read_.*/\1/p' "$1/spectr/nn/arch/architectures.cc" | tr '\n' '|')
[ -n "$names" ] || { echo "no architectures in spectr/nn/arch/architectures.cc" && exit 1; }
for files in "$1"/spectr/nn/*.cc "$1"/spectr/nn/*.h "$1/spectr/backend"; do
  [ ! -e "$files" ] || grep -rnwiE "(${names%|})" "$files" | grep -vi 'llama\.cpp'
done | { ! grep .; }
