#!/bin/sh
# What speculation brings on a pair of published models: see real_pair.py beside this file.
exec python3 "$(dirname "$0")/real_pair.py" "$@"
