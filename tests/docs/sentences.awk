# Prints "FILE:LINE<tab>WORDS<tab>SENTENCE" for every sentence of the prose in Markdown files. Code blocks, tables, headings,
# HTML comments and link definitions are not prose. A link counts by its text, a code span as one word, and a picture not
# at all; a formula, that is a run of symbols with an operator among them, counts as one word.
# With -v tables=1, rows of tables follow as well, but for those of tables that a program writes.
FNR == 1 { end_block(); fenced = 0; listed = 0; blank = 1; comment = 0; made = 0 }

/^ *(```|~~~)/ { end_block(); fenced = !fenced; next }
fenced { next }
comment { if (/-->/) comment = 0; next }
/^ *<!--/ {
  end_block()
  if (/<!-- table: /) made = 1
  if (/<!-- end of table -->/) made = 0
  comment = !/-->/
  next
}
/^ *$/ { end_block(); blank = 1; next }
/^    / && blank && !listed { next }  # an indented block of code
tables && !made && /^ *[|]/ { end_block(); place = FNR; file = FILENAME; text = $0; end_block(); next }
/^ *[|]/ || /^ *<\/?[a-z]/ || /^\[[^]]*\]: / { end_block(); next }
/^#/ { end_block(); blank = 1; listed = 0; next }
{
  line = $0
  if (line ~ /^ *([-*+]|[0-9]+[.)]) /) {
    end_block()
    sub(/^ *([-*+]|[0-9]+[.)]) +/, "", line)
    listed = 1
  } else if (blank && line !~ /^ /) listed = 0
  sub(/^ *(> ?)*/, "", line)
  blank = 0
  if (text == "") { place = FNR; file = FILENAME }
  text = text (text == "" ? "" : " ") line
}
END { end_block() }

# Splits what has been collected into sentences.
function end_block(   rest, word, word_of, i, n, sentence) {
  if (text == "") return
  rest = text
  text = ""
  # A code span is one word without blanks, brackets or stops, so that none of these means anything.
  while (match(rest, /`[^`]*`/)) {
    word = substr(rest, RSTART + 1, RLENGTH - 2)
    gsub(/[^A-Za-z0-9]+/, "_", word)
    rest = substr(rest, 1, RSTART - 1) "\001" word "\002" substr(rest, RSTART + RLENGTH)
  }
  gsub(/[\001\002]/, "`", rest)
  gsub(/!\[[^][]*\]\([^)]*\)/, "", rest)
  while (match(rest, /\[[^][]*\]\([^)]*\)/)) {
    word = substr(rest, RSTART, RLENGTH)
    sub(/^\[/, "", word)
    sub(/\]\([^)]*\)$/, "", word)
    rest = substr(rest, 1, RSTART - 1) word substr(rest, RSTART + RLENGTH)
  }
  gsub(/\*\*/, "", rest)
  n = split(rest, word_of, / +/)
  sentence = ""
  for (i = 1; i <= n; i++) {
    word = word_of[i]
    if (word == "") continue
    sentence = sentence (sentence == "" ? "" : " ") word
    if (i == n || ends(word)) {
      print file ":" place "\t" size_of(sentence) "\t" sentence
      sentence = ""
    }
  }
}

function ends(word) {
  return word ~ /[.!?]["')*_]*$/ && word !~ /^\(?(e\.g|i\.e|i\.i\.d|vs|cf|etc|al)\.$/
}

# The number of words of a sentence.
function size_of(sentence,   word_in, n, i, word, size, formula, operator) {
  n = split(sentence, word_in, / +/)
  for (i = 1; i <= n; i++) {
    word = word_in[i]
    if (is_symbol(word)) {
      formula++
      if (has_operator(word)) operator = 1
      if (i < n) continue
    }
    if (formula) size += operator ? 1 : formula
    formula = operator = 0
    if (!is_symbol(word) && word ~ /[A-Za-z0-9]/) size++
  }
  return size
}

# Whether a word can be a part of a formula: no two letters follow each other but in names of functions.
function is_symbol(word) {
  if (word ~ /^[aAI][,.;:]?$/ || word ~ /`/) return 0
  gsub(/min|max|log|ln|exp|TV|PPL|sup/, "1", word)
  return word !~ /[A-Za-z][A-Za-z]/
}

function has_operator(word) { return word ~ /[=<>^+|\/_{}~]/ || word ~ /(−|≤|≥|·|×|→|∈|⊆|∖|∪|∅|Σ|∏|Π|√|∝|±|≈|⊙|≡|≠|↦)/ }
