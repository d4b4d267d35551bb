#!/bin/sh
# Measures the benefit of speculation for a pair of published models; see real_pair.py in this folder.
exec python3 "$(dirname "$0")/real_pair.py" "$@"
