#!/bin/sh
# Generates the papers' tables in full size with the bundled models, which takes hours on two otherwise idle cores. A
# killed run resumes: measurements of `bench` are stored in a file, and finished tables are not generated again.
# Writes each table to build/papers/NAME.md with command, machine and date, and all of them to
# build/papers/tables.md.
usage='usage: tools/papers.sh [--list | NAME…]
  (nothing)  all tables
  NAME…      these
  --list     their names and commands'
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
cd "$root"
out=build/papers
scorer=models/spectr-stories-draft-1.2m-f16.gguf
unfiltered='--temp 1 --top-k 0 --top-p 1 --min-p 0'

# Prints lines NAME COMMAND. Tables of times use one thread, like those of docs/benchmarks.md.
tables() {
  cat <<END
spectr-table4 bench methods --preset spectr-table4 --repeats 3 --count 300 -n 128 -t 1
mtad-table4 bench methods --preset mtad-table4 --repeats 3 --count 100 -n 128 -t 1
mtad-table5 bench methods --preset mtad-table5 --repeats 3 --count 100 -n 128 -t 1
opt-vs-uno lab run opt-vs-uno --runs 200 --comparisons 5 --scorer $scorer -t 2
opt-vs-uno-endings lab run opt-vs-uno --runs 12 --comparisons 100 --prompts data/endings.jsonl --scorer $scorer -t 2
spectr-tree lab run spectr-tree
tree-k-seq bench methods --method spectr,tree --plan k-seq -K 5,6,7,8 --tree 4,2,1,1 -L 4 $unfiltered --repeats 3 --count 100 -n 128 -t 1
tree-optimal bench methods --method spectr,tree --plan optimal -K 5,6,7,8 --tree 4,2,1,1 -L 4 $unfiltered --repeats 3 --count 100 -n 128 -t 1
mtad-K bench methods --method mtad -K 1,2,4,8 -L 4 --beams 8 --beam-mode top --tau 0.1 --temp 1 --top-k 20 --top-p 0.9 --min-p 0 --repeats 3 --count 100 -n 128 -t 1
opt-shape-widths bench widths -m build/papers/opt-1.3b-shape-random.gguf --preset mtad-table2 --runs 200 -t 2
END
}

case ${1-} in
  --list) tables && exit ;;
  --help | -h) echo "$usage" && exit ;;
  -*) echo "spectr: error: unknown option $1" >&2 && exit 2 ;;
esac
for name; do
  tables | grep -q "^$name " || { echo "spectr: error: there is no table $name: tools/papers.sh --list" >&2 && exit 2; }
done

mkdir -p "$out"
machine="$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores"
tables | while read -r name command; do
  [ $# = 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
  [ ! -e "$out/$name.md" ] || continue
  echo "$name: spectr $command" >&2
  shape=$out/opt-1.3b-shape-random.gguf
  case $command in *"$shape"*) [ -e "$shape" ] || python3 tools/opt_shape.py 1.3b "$shape" ;; esac
  python3 tools/tables.py --print "$command" --resume "$out/results.jsonl" >"$out/$name.part" </dev/null
  {
    printf '## %s\n\n`spectr %s`\n\n%s, %s, commit %s.' "$name" "$command" "$machine" "$(date -u +%F)" \
      "$(git rev-parse --short HEAD 2>/dev/null || echo unknown)"
    case $name in opt-shape*) printf ' The weights are random: speed alone means anything.' ;; esac
    printf '\n\n'
    cat "$out/$name.part"
  } >"$out/$name.new"
  mv "$out/$name.new" "$out/$name.md"
  rm "$out/$name.part"
done
tables | while read -r name _; do
  [ ! -e "$out/$name.md" ] || { cat "$out/$name.md" && echo; }
done >"$out/tables.md"
