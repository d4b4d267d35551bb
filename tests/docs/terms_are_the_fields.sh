# The documents of project $1 use the terms of the field: none has a paraphrase of the list below. Code, quoted messages and
# the tables that tools/tables.py writes may say anything.
here=$(dirname "$0")
. "$here/documents.sh"
word() { printf '(^|[^[:alnum:]_])(%s)([^[:alnum:]_]|$)' "$1"; }
documents "$1" | tr '\n' '\0' | xargs -0 awk -v tables=1 -f "$here/sentences.awk" |
  sed -E 's/[Bb]ehind a (load balancer|proxy)//g' |
  grep -iE "$(word 'so many|so much')|$(word 'go(es|ing)? by|went by')|$(word 'in silence')|$(word 'behind|beside')|$(
    word '(numbers|columns|rows|bytes) apart')|$(word 'not computed yet')|$(word 'anybody|somebody|whoever|strangers?')|$(
    word 'one upon the other|of equals|come again|vouch(es)? for')|$(word '(is|are) no room')" |
  awk -F '\t' '{ print $1 ": " $3 }' | { ! grep .; }
