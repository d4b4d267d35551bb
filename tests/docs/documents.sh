# Prints the documents of the project $1, one per line: its Markdown files without those of others. Sourced by the rules.
documents() {
  find "$1" \( -name build -o -name .git -o -name node_modules -o -path "$1/third_party" \) -prune -o -name '*.md' -print
}
