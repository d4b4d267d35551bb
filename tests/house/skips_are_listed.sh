# tools/skips lets a test be skipped for a reason that is listed, where its condition holds, and for no other.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir build data
touch data/there
echo "SPECTR_EXTRA_DATA:PATH=$scratch/data" >build/CMakeCache.txt
echo '{"command": "c++ -DSPECTR_MPI -fsanitize=address,undefined -c sql/with_sqlite.cc"}' >build/compile_commands.json

# expect STATUS WORDS: of a run on the log, which says these words.
expect() {
  status=0
  "$skips" --build build log >said 2>&1 || status=$?
  if [ "$status" != "$1" ] || ! grep -qF -- "$2" said; then
    echo "status $status, expected $1 and '$2':"
    cat said log
    exit 1
  fi
}
skips=$1/tools/skips

# skipped REASON: the log of a test program that has skipped a test.
skipped() {
  printf '[ RUN      ] Some.Test\n/a/file.cc:5: Skipped\n%s\n\n[  SKIPPED ] Some.Test (0 ms)\n' "$1" >log
  printf '[ RUN      ] Some.Other\n[       OK ] Some.Other (1 ms)\n' >>log
}
allowed() { skipped "$1" && expect 0 "1 × $1"; }
refused() { skipped "$1" && expect 1 "Some.Test and 0 more skipped: $1"; }

refused 'it is raining'
refused 'this build has MPI, and it is raining'
allowed 'this build has MPI'
refused 'this build has no MPI'
refused 'built without SQLite'
allowed 'this build has no kernels for GPUs'
allowed 'this build keeps no memory'
allowed "needs the extra data's absent/"
allowed "needs the extra data's there and absent"
refused "needs the extra data's there"
refused "needs the extra data's there and ."
refused 'this machine has no portable'
SPECTR_REQUIRE_DEVICE=1 refused 'no driver; on Debian: mesa-vulkan-drivers, vulkan-validationlayers'
(unset SPECTR_REQUIRE_DEVICE && allowed 'no driver; on Debian: mesa-vulkan-drivers, vulkan-validationlayers')
refused ''

# Logs of ctest and of several test programs.
skipped 'it is raining' && sed 's/^/12: /' log >log2 && mv log2 log && expect 1 'it is raining'
skipped 'this build has MPI' && sed 's/^/12: /' log >log2 && mv log2 log
echo ' 3/20 Test #12: folder.Some.Test ........***Skipped   0.01 sec' >>log && expect 0 'this build has MPI'
echo ' 4/20 Test #13: clients ........***Skipped   0.01 sec' >>log && expect 1 'clients'
echo ' 4/20 Test #13: clients ........   Passed    0.01 sec' >log && "$skips" --build build log
printf '<testcase name="folder.Some.Test" status="notrun">\n<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>\n' >log2
skipped 'needs the extra data&apos;s absent' && cat log log2 >log3 && mv log3 log
expect 0 "1 × needs the extra data's absent"
printf '[       OK ] Some.Other (1 ms)\n  YOU HAVE 1 DISABLED TEST\n' >log && expect 1 'disabled'
echo 'the build failed' >log && expect 1 'holds no results of tests'
