# No sentence of the documents of project $1 has more than 40 words (what a sentence and a word is: sentences.awk).
here=$(dirname "$0")
. "$here/documents.sh"
documents "$1" | tr '\n' '\0' | xargs -0 awk -f "$here/sentences.awk" |
  awk -F '\t' '$2 > 40 { print $1 ": " $2 " words: " $3 }' | { ! grep .; }
