# tools/results counts the tests of a ctest run one by one: those of shards that passed, failed, crashed or did not run,
# and those that are commands. It names what failed.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
logs=$scratch/Testing/Temporary
mkdir -p "$logs"

# test NAME SECONDS: the entry of a test in ctest's log, its output from standard input.
test_entry() {
  printf '1/5 Testing: %s\n1/5 Test: %s\nOutput:\n' "$1" "$1"
  printf -- '----------------------------------------------------------\n'
  cat
  printf '<end of output>\nTest time = %6s sec\n' "$2"
}
{
  test_entry base.fast_1of2 0.50 <<'END'
[==========] Running 3 tests from 2 test suites.
[ RUN      ] Good.One
printed without an end of line[       OK ] Good.One (20 ms)
[ RUN      ] Good.Skips
[  SKIPPED ] Good.Skips (0 ms)
[ RUN      ] All/Bad.Fails/2
[  FAILED  ] All/Bad.Fails/2, where GetParam() = (5, "x") (30 ms)
[  FAILED  ] 1 test, listed below:
[  FAILED  ] All/Bad.Fails/2, where GetParam() = (5, "x")
END
  test_entry nn.fast_1of2 9.00 <<'END'
[==========] Running 4 tests from 2 test suites.
[ RUN      ] Good.Two
[       OK ] Good.Two (10 ms)
[ RUN      ] Bad.Crashes
END
  test_entry nn.fast_2of2 0.10 <<'END'
[==========] Running 1 test from 1 test suite.
[ RUN      ] Good.Three
[       OK ] Good.Three[2026-01-01 00:00:00.000] [info] a line of a log
 (1 ms)
ERROR: LeakSanitizer: detected memory leaks
END
  test_entry docs.links 0.25 </dev/null
  test_entry house.rule 0.01 </dev/null
  test_entry clients 0.02 </dev/null
} >"$logs/LastTest.log"
printf '1:base.fast_1of2\n2:nn.fast_1of2\n3:nn.fast_2of2\n5:house.rule\n6:install.program\n' >"$logs/LastTestsFailed.log"
printf '5/6 Test #5: docs.links .....   Passed    0.25 sec\n 6/6 Test  #16: clients .....***Skipped   0.02 sec\n' \
  >"$scratch/ctest.log"

status=0
"$1/tools/results" "$scratch" >"$scratch/found" || status=$?
cat "$scratch/found"
[ "$status" = 1 ]
sort "$scratch/found" >"$scratch/sorted"
sort >"$scratch/expected" <<'END'
failed: base.All/Bad.Fails/2
failed: nn.Bad.Crashes: did not end
failed: nn.fast_1of2: 2 more not run
failed: nn.fast_2of2: failed outside of its tests
failed: house.rule
failed: install.program
2 skipped
4 passed, 7 failed
END
diff "$scratch/expected" "$scratch/sorted"
[ "$(tail -n 1 "$scratch/found")" = '4 passed, 7 failed' ]
[ "$("$1/tools/results" --slowest 2 "$scratch")" = '250 docs.links
30 base.All/Bad.Fails/2' ]

# No log: nothing ran, which is a failure.
rm -r "$logs"
! "$1/tools/results" "$scratch"
