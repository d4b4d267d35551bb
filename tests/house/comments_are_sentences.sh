# No comment of the project $1 begins with a fragment, a word that needs the declaration above it. That is the first line of a
# run of // or /// lines, or a comment after code.
find "$1" \( -name build -o -name .git -o -name node_modules -o -path "$1/third_party" \) -prune -o -type f \
  \( -name '*.cc' -o -name '*.h' -o -name '*.cuh' -o -name '*.cu' -o -name '*.comp' -o -name '*.glsl' \) -print0 |
  xargs -0 -r awk '
    FNR == 1 { column = 0 }
    {
      # The column of a comment, 0 without one. A line that is a comment goes on with the comment in the line above it.
      above = column
      column = match($0, /(^|[ \t])\/\/\/?[!<]?( |$)/) ? index($0, "//") : 0
      whole = $0 ~ /^[ \t]*\/\//
      if (!column || whole && above == column) next
      text = substr($0, RSTART)
      sub(/^[ \t]*\/\/\/?[!<]* */, "", text)
      if (text ~ /^(Of|Those|The same|What|As|And|So many|So much) /) print FILENAME ":" FNR ": " text
    }' | { ! grep .; }
