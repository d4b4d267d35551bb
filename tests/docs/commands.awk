# Prints "LINE<tab>COMMAND" for every command of spectr in the sh blocks of a Markdown file: lines that begin
# with "spectr " or "./run ", or pipe into spectr; lines that end in a backslash go on. A block right after a
# comment "<!-- not run: why -->" is left out.
/^```/ {
  inside = !fenced && $0 == "```sh" && !exempt
  exempt = exempt && !fenced
  fenced = !fenced
  next
}
!fenced && NF { exempt = /^<!-- not run: .* -->$/ }
inside {
  if (command == "") line = FNR
  command = command $0
  if (sub(/\\$/, "", command)) next
  if (command ~ /^(spectr|\.\/run) / || command ~ /\| spectr /) print line "\t" command
  command = ""
}
