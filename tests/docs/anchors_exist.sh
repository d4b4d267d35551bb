# Every link of a document of project $1 to a heading, "page.md#heading" or "#heading", names a heading of that page.
here=$(dirname "$0")
. "$here/documents.sh"
documents "$1" | while IFS= read -r page; do
  # A line "FROM TO ANCHOR" for each link outside of code.
  awk '/^ *```/ { fenced = !fenced } !fenced { gsub(/`[^`]*`/, ""); print }' "$page" | grep -o ']([^)]*#[^)]*)' |
    sed 's/^](//; s/)$//' | grep -v '://' | while IFS= read -r link; do
    target=${link%%#*}
    case $target in '') target=$page ;; *.md) target=$(dirname "$page")/$target ;; *) continue ;; esac
    [ -f "$target" ] || continue  # links_lead_somewhere.sh
    # The headings as code hosts name them: small letters, "-" for a blank, and no other signs than "-" and "_".
    awk '/^ *```/ { fenced = !fenced } /^#/ && !fenced' "$target" |
      sed -E 's/^#+ *//; s/\]\([^)]*\)//g; s/[][`*.,:;!?()\/+="&'"'"'<>|\\#@%^~$]//g; s/…//g; s/ /-/g' | tr '[:upper:]' '[:lower:]' |
      grep -qxF -- "${link#*#}" || echo "$page: $link: no such heading"
  done
done | { ! grep .; }
