# Every relative link and picture of the Markdown files in project $1 leads to a file, and so does every
# mention of a page "docs/….md" in its source files.
set -eu
cd "$1"
{
  find . \( -name build -o -name .git -o -name node_modules \) -prune -o -name '*.md' -print |
    while IFS= read -r page; do
      grep -o ']([^)]*)' "$page" | sed 's/^](//; s/)$//; s/#.*//' | while IFS= read -r link; do
        case $link in '' | http://* | https://* | mailto:*) continue ;; esac
        [ -e "$(dirname "$page")/$link" ] || echo "$page: $link does not exist"
      done
    done
  find spectr apps tests -name '*.h' -o -name '*.cc' | while IFS= read -r source; do
    for page in $(grep -oE '(^|[ (])docs/[A-Za-z_/-]+\.md' "$source" | tr -d ' (' | sort -u); do
      [ -e "$page" ] || echo "$source: $page does not exist"
    done
  done
} | { ! grep .; }
