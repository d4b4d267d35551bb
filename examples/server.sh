#!/bin/sh
# Sends requests to the endpoints of a running `spectr serve`. Usage: server.sh [ADDRESS]
set -eu
server=${1:-http://127.0.0.1:8080}

ask() { # ask PATH JSON
  curl --silent --show-error --no-buffer "$server$1" -H 'Content-Type: application/json' -d "$2"
  echo
}

echo "A text:"
ask /v1/completions '{"prompt": "Once upon a time", "max_tokens": 40, "seed": 1}'

echo "The same as it is written:"
ask /v1/completions '{"prompt": "Once upon a time", "max_tokens": 40, "seed": 1, "stream": true}'

echo "A conversation:"
ask /v1/chat/completions '{"messages": [{"role": "user", "content": "The dog saw a cat."}], "max_tokens": 40}'

echo "Eight drafts of three tokens, chosen by the optimal plan, and where each token came from:"
ask /v1/completions '{"prompt": "Once upon a time", "max_tokens": 20, "token_details": true,
  "speculative": {"method": "spectr", "plan": "optimal", "drafts": 8, "length": 3}}'
