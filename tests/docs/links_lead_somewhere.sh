# Every relative link and picture of the Markdown files in project $1 leads to a file, and so does every
# mention of a page "docs/….md" in its source files.
set -eu
cd "$1"
{
  find . \( -name build -o -name .git -o -name node_modules \) -prune -o -name '*.md' \
    -exec grep -Ho ']([^)]*)' {} + | sed 's/:](/ /; s/)$//; s/#.*//' | sort -u |
    while read -r page link; do
      case $link in '' | http://* | https://* | mailto:*) continue ;; esac
      [ -e "${page%/*}/$link" ] || echo "$page: $link does not exist"
    done
  find spectr apps tests \( -name '*.h' -o -name '*.cc' \) \
    -exec grep -HoE '(^|[ (])docs/[A-Za-z_/-]+\.md' {} + | sed 's/:[ (]*/ /' | sort -u |
    while read -r source page; do
      [ -e "$page" ] || echo "$source: $page does not exist"
    done
} | { ! grep .; }
