# The rules on sentences, terms, anchors and the list of what a port replaces accept a clean document and refuse one that breaks
# them, wherever in it that is. What is not prose may be of any length, and a program may say anything.
set -eu
here=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/docs" "$scratch/third_party/other"

expect() { # expect STATUS RULE: for the document on standard input
  cat >"$scratch/docs/page.md"
  status=0
  sh "$here/$2.sh" "$scratch" >"$scratch/found" || status=1
  [ "$status" = "$1" ] || { echo "$2: status $status, expected $1, for:" && cat "$scratch/docs/page.md" "$scratch/found" && exit 1; }
}
words() { seq -s ' ' -f "${2-word}%g" "$1"; }  # N words
forty=$(words 40)

printf '%s more.\n' "$(words 99)" >"$scratch/third_party/other/README.md"  # of others
expect 0 sentences_are_short <<PAGE
# A heading of any length: $(words 50)

$forty. $forty? $forty!

$(words 36)
(see [a link](of/$(words 50 x | tr ' ' '/').md)).

| a table | of |
|---|---|
| $forty | $forty |

    a line of code = $forty + $forty

- $forty
- $forty

  $forty

<!-- $(words 50) -->
\`\`\`
$forty $forty
\`\`\`

A formula counts as one word: $(seq -s ' + ' 60) = x, and so does a span of code: \`$(words 50)\`. Short ones, e.g. this, go on.
PAGE
for page in "$forty more." "- $forty
  more" "1. Short. $forty more" "> $forty more" "$forty
more" "$forty [more](link.md)" "$forty, e.g. more" "$forty \`more\`" "**$forty** more"; do
  printf 'Short.\n\n%s\n' "$page" | expect 1 sentences_are_short
done
printf '\n```\ncode\n```\n%s more\n' "$forty" | expect 1 sentences_are_short

expect 0 terms_are_the_fields <<'PAGE'
Servers behind a load balancer are besides a good start. Apart from that, it went well by noon.

<!-- table: lab run plans -->
| k-Seq beside the optimum | so many |
<!-- end of table -->

| message | meaning |
|---|---|
| `so many … behind …` | quoted |

```
goes by in silence
```
PAGE
for term in 'so many numbers' 'So much' 'what it goes by' 'fails in silence' 'beside the target' 'the tokens behind it' \
  'eight numbers apart' 'what is not computed yet' 'for strangers' 'there is no room'; do
  echo "It is $term." | expect 1 terms_are_the_fields
  printf '| a |\n|---|\n| It is %s. |\n' "$term" | expect 1 terms_are_the_fields
done
printf 'It is so\nmany tokens.\n' | expect 1 terms_are_the_fields

expect 0 anchors_exist <<'PAGE'
# A `page`: its [heading](page.md), and more

See [above](#a-page-its-heading-and-more), [here](page.md#second) and [elsewhere](https://host/page.md#nothing).

## Second
PAGE
for link in '#third' 'page.md#third' '../docs/page.md#Second'; do
  printf '# Page\n\n## Second\n\nSee [there](%s).\n' "$link" | expect 1 anchors_exist
done
printf '# Page\n\n```\n## Second\n```\n\nSee [there](#second).\n' | expect 1 anchors_exist

# The list of files that depend on the operating system.
mkdir -p "$scratch/spectr" "$scratch/apps" "$scratch/lab" "$scratch/capi" "$scratch/python"
echo '#include <vector>' >"$scratch/spectr/a.cc"
cp "$scratch/spectr/a.cc" "$scratch/spectr/b.cc"
listed() { # listed STATUS: whether b.cc needs no more than the list has
  echo 'See [a](../spectr/a.cc).' >"$scratch/docs/porting.md"
  expect "$1" porting_is_complete <"$scratch/docs/porting.md"
}
listed 0
for line in '#include <sys/mman.h>' '#  include <unistd.h>' '#include <csignal>' 'open("/proc/self/exe")' 'read("/sys/fs/cgroup");' \
  'const int file = fileno(stream);'; do
  echo "$line" >"$scratch/spectr/b.cc"
  listed 1
  cp "$scratch/spectr/b.cc" "$scratch/spectr/a.cc"
  echo '#include <vector>' >"$scratch/spectr/b.cc"
  listed 0
done
rm "$scratch/spectr/a.cc"
listed 1
