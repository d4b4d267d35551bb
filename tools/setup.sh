# shellcheck shell=sh
# Functions of ./run, ./check and tools/ci: install missing packages, configure, build, test. Source it with `root` set
# to the project's folder. Requires a POSIX shell and a minimal Debian. Prints on standard error only.

install=${SPECTR_INSTALL:-yes}  # "no": missing packages are an error
components='server bench lab gpu mpi capi grammar kernels'  # as in cmake/Components.cmake

say() { printf 'spectr: %s\n' "$*" >&2; }

fail() {
  say "error: $*"
  exit 1
}

# quietly LOG WHAT COMMAND…: runs the command with its output in LOG; shows the end of it on failure.
quietly() {
  log=$1 what=$2
  shift 2
  "$@" >"$log" 2>&1 </dev/null && return
  tail -n 25 "$log" >&2
  fail "$what failed; all of its output is in $log"
}

# missing_packages GROUP…: prints lines "package reason" of the packages that are not installed.
missing_packages() {
  groups=" $* "
  known=$(sed -n 's/^[a-z][a-z]*  *\([^ ]*\).*/\1/p' "$root/tools/packages.txt")
  # shellcheck disable=SC2086 # one word per package is meant
  installed=" $(dpkg-query -W -f '${Package}=${db:Status-Status} ' $known 2>/dev/null || true)"
  while read -r group package reason; do
    case $groups in *" $group "*) ;; *) continue ;; esac
    case $installed in *" $package=installed "*) ;; *) echo "$package $reason" ;; esac
  done <"$root/tools/packages.txt"
}

# need GROUP…: installs missing packages of these groups (tools/packages.txt). "test" includes the groups of
# all components.
need() {
  case " $* " in *' test '*) set -- "$@" $components ;; esac
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian system: the packages of tools/packages.txt are taken to be there"
    return
  fi
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  names=$(echo "$missing" | cut -d ' ' -f 1 | tr '\n' ' ')
  names=${names% }
  [ "$install" = yes ] || fail "missing packages: $names (--no-install was given)"
  if [ "$(id -u)" = 0 ]; then
    as_root=''
  elif command -v sudo >/dev/null; then
    as_root=sudo
  else
    fail "missing packages: $names (installing them takes root or sudo)"
  fi
  say "installing with apt-get${as_root:+ (through sudo)}:"
  echo "$missing" | while read -r package reason; do
    printf '  %-22s %s\n' "$package" "$reason" >&2
  done
  apt_get="$as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=300"
  mkdir -p "$root/build"
  # shellcheck disable=SC2086 # words are meant
  quietly "$root/build/apt-update.log" "apt-get update" $apt_get update
  # shellcheck disable=SC2086
  quietly "$root/build/apt-install.log" "apt-get install" $apt_get install --no-install-recommends $names
}

memory_max=/sys/fs/cgroup/memory.max

# Prints the number of parallel compilers: one per processor, limited to one per 1.5 GB of available memory and of the
# container's memory limit.
jobs() {
  {
    nproc || echo 1
    awk '/^MemAvailable:/ { print int($2 / 1500000) }' /proc/meminfo
    awk '/^[0-9]/ { print int($1 / 1500000000) }' "$memory_max"
  } 2>/dev/null | sort -n | awk 'NR == 1 { print ($1 > 1 ? $1 : 1) }'
}

# is_new_enough WHAT VERSION LEAST: fails if the version is older.
is_new_enough() {
  [ -n "$2" ] || fail "$1 is missing: $3 or newer is needed"
  printf '%s\n' "$3" "$2" | sort -VC || fail "$1 is $2, but $3 or newer is needed"
}

# Checks tool versions, which packages do not guarantee on other systems.
check_tools() {
  is_new_enough cmake "$(cmake --version 2>/dev/null | sed -n '1s/.* //p')" 3.25
  compiler=${CXX:-c++}
  # shellcheck disable=SC2086 # a compiler with arguments is words
  case $($compiler --version 2>/dev/null || true) in
    *clang*) ;;
    *) is_new_enough "the compiler $compiler (GCC)" "$($compiler -dumpfullversion 2>/dev/null || true)" 12 ;;
  esac
}

# Uses ccache if it is installed and no launcher is set. Clones of the project share its cache, whatever their paths.
# User settings take precedence.
use_ccache() {
  kept=$(ccache --get-config cache_dir 2>/dev/null) && mkdir -p "$kept" 2>/dev/null && [ -w "$kept" ] || return 0
  export CMAKE_CXX_COMPILER_LAUNCHER="${CMAKE_CXX_COMPILER_LAUNCHER-ccache}"
  [ -n "$(ccache --get-config base_dir)" ] || export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1
}

# configured PRESET [CACHE-LINE…]: returns 0 if build/PRESET is ready to build and its cache has these lines.
configured() {
  folder=$root/build/$1
  shift
  [ -f "$folder/build.ninja" ] || return 1
  for line in "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$@"; do
    grep -qxF "$line" "$folder/CMakeCache.txt" || return 1
  done
}

# configure PRESET [OPTION…]: runs `cmake --preset`, in an empty folder if the project has moved.
configure() {
  check_tools
  use_ccache
  folder=$root/build/$1
  if [ -f "$folder/CMakeCache.txt" ] &&
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
    rm -rf "$folder"
  fi
  mkdir -p "$folder"
  say "configuring build/$1"
  (cd "$root" && quietly "$folder/configure.log" "configuring" cmake --preset "$@")
}

# compile PRESET TARGET…: builds with a progress line; prints nothing if everything is up to date.
compile() {
  preset=$1
  shift
  folder=$root/build/$preset
  log=$folder/build.log
  rm -f "$folder/compiled"
  use_ccache
  {
    cmake --build "$folder" --target "$@" -j "$(jobs)" 2>&1 </dev/null && : >"$folder/compiled"
  } | tee "$log" | show_progress "build/$preset"
  [ -f "$folder/compiled" ] && return
  tail -n 40 "$log" >&2
  fail "the build failed; all of its output is in $log"
}

# build_program [COMPONENT…]: builds build/release/bin/spectr with these and its earlier components, and their packages.
build_program() {
  built=$(sed -n 's/^SPECTR_COMPONENTS:STRING=//p' "$root/build/release/CMakeCache.txt" 2>/dev/null || true)
  configured release || built=''
  wanted=${built:-core}
  for component; do
    case ";$wanted;" in *";all;"* | *";$component;"*) ;; *) wanted="$wanted;$component" ;; esac
  done
  # shellcheck disable=SC2046 # one word for each component is meant
  need build $(echo "$wanted" | sed "s/^all$/$components/; s/;/ /g")
  [ "$wanted" = "$built" ] ||
    configure release "-DSPECTR_COMPONENTS=$wanted" -DSPECTR_TESTS=OFF -DSPECTR_BENCH=OFF
  compile release spectr_cli
}

# build_tests PRESET TARGET…: builds tests with all components. Configures the build first if necessary.
build_tests() {
  configured "$1" SPECTR_TESTS:BOOL=ON SPECTR_COMPONENTS:STRING=all || configure "$1"
  compile "$@"
}

# run_tests PRESET [OPTION…]: runs the tests of build/PRESET with ctest, or those that the options select. The last line
# counts them. With SPECTR_LISTED_SKIPS=1, a skipped test fails unless tests/skips.txt allows it.
run_tests() {
  say "testing build/$1"
  folder=$root/build/$1
  rm -f "$folder"/Testing/Temporary/LastTest*.log "$folder/tests-failed"
  {
    (cd "$root" && ctest --preset "$@" --no-tests=error -j "$(jobs)" </dev/null) || : >"$folder/tests-failed"
  } | tee "$folder/ctest.log" | sed -u -E '/^\[( RUN      |       OK |----------)\]/d'  # failures are easier to find
  outcome=0
  [ ! -f "$folder/tests-failed" ] || outcome=1
  "$root/tools/results" "$folder" || outcome=1
  check_skips "$folder" "$folder/Testing/Temporary/LastTest.log" "$folder/ctest.log" || outcome=1
  return $outcome
}

# check_skips FOLDER LOG…: with SPECTR_LISTED_SKIPS=1, fails if these test logs of the build in FOLDER contain a skipped
# test that is not allowed.
check_skips() {
  [ "${SPECTR_LISTED_SKIPS-0}" = 1 ] && [ -x "$root/tools/skips" ] || return 0
  folder=$1
  shift
  "$root/tools/skips" --build "$folder" "$@" >&2
}

# Lets sanitizers resolve source lines with addr2line, which every compiler package includes.
name_lines() {
  helper=external_symbolizer_path=$(command -v addr2line)
  export ASAN_OPTIONS="${ASAN_OPTIONS-$helper}" TSAN_OPTIONS="${TSAN_OPTIONS-$helper}"
}

# show_progress WHAT: converts ninja's lines "[12/345] …" to a percentage and, after a while, an estimate of the
# remaining time; updated in place on a terminal, else printed every 10 %.
show_progress() {
  shown=-1 began=$(date +%s)
  while read -r line; do
    case $line in '['[1-9]*/[1-9]*']'*) ;; *) continue ;; esac
    step=${line#?}
    step=${step%%]*}
    all=${step#*/} step=${step%/*}
    percent=$((step * 100 / all))
    took=$(($(date +%s) - began))
    left=''
    [ $took -lt 20 ] || [ $percent -eq 100 ] || left=", about $((took * (all - step) / step / 60 + 1)) min left"
    if [ -t 2 ]; then
      printf '\rspectr: building %s: %3d %%%-24s' "$1" "$percent" "$left" >&2
    elif [ $((percent / 10)) -ne "$shown" ]; then
      say "building $1: $percent %$left"
    fi
    shown=$((percent / 10))
  done
  if [ -t 2 ] && [ "$shown" -ge 0 ]; then echo >&2; fi
}

# fetch_pinned NAME: unpacks the packages of tools/pins/NAME.txt into build/NAME-root. If one is no longer available,
# counts a test as skipped and returns 1.
fetch_pinned() {
  outcome=0
  "$root/tools/pinned" "$root/tools/pins/$1.txt" "$root/build/$1-root" || outcome=$?
  [ $outcome != 0 ] || return 0
  [ $outcome = 77 ] || fail "the packages of tools/pins/$1.txt cannot be unpacked"
  log=$root/build/$1-skipped.log
  printf '%s\n' "tools/pins/$1.txt: Skipped" 'pinned packages are not served any more' "[  SKIPPED ] ci.$1 (0 ms)" |
    tee "$log"
  check_skips "$root/build/$1" "$log" || exit 1
  return 1
}

# long_under_sanitizers: prints a GoogleTest filter of the slowest tests under sanitizers whose code is covered by
# shorter ones: enumerations, GPU kernels for every shape, whole experiments, and programs that are started repeatedly.
# With sanitizers, only tools/ci/nightly runs them.
long_under_sanitizers() {
  printf '%s:' 'Exactness.*' 'Auto.HasTheTargetsDistribution*' 'SampledDistribution.*' 'Tickets.ATokenOfManyPieces*' \
    '*BlocksOfALongText*' 'Greedy.EveryMethod*' 'LargeVocabulary.*' 'ChatLimits.*Grow*' 'ChatLimits.BoundRepetition*' \
    'ConfidentTree.IsLossless*' 'GreedyText.*' 'Generate.TextsOfSeveral*' 'Trees.HaveTheLogitsOf*' 'Pretokenizer.LongRuns*' \
    'CudaCalls.*ForProductsOfEvery*' 'CudaCalls.*ForAttentionOfEvery*' 'CudaProduct.StreamsRowsWith*' \
    'CudaProduct.GivesTheSameBits*' 'CudaAttention.GivesTheBits*' 'CudaPass.*BeforeHopper' 'CudaPass.OfEmbeddings*' \
    'CudaExperts.*BeforeHopper' 'Shapes/RecurrentKernels.*/4HeadsOf*' 'DeviceMemory.ThatEnds*' \
    'CudaDevice.KeepsPinnedMemory*' 'CudaProduct.*AtEveryWidth' 'DeviceShortlist.SpoilsNoText*' \
    'TrainedDrafters.GoOnFrom*' 'TrainedDrafters.GiveThePlainText*' 'ConstrainedCalls.FitTheSchemas*' 'ConstrainedCalls.OfStrict*' \
    'ConstrainedCalls.TakeStrings*' 'ConstrainedCalls.AreMessages*' 'ConstrainedDrafts.*' 'Grammars.AreKeptByEvery*' 'Grammars.AllowExactly*'
  for model in gptoss gemma4 deepseek2 qwen3 lfm2 mistral3 olmo2 phi3 opt archsmollm3 archgemma2 archgpt archgranite archllamas \
    archllamal archqwen2 archqwen3f archolmo2; do
    printf 'Models/CopiedSessions.*/%s*:' $model
  done
  for method in plain speculative tree batch specinfer block traversal ngram suffix auto; do
    printf 'Methods/Lossless.*/%s:' $method
  done
  printf '%s:' 'All/EveryExperiment.*/5' 'All/EveryExperiment.*/19' 'Pictures/Picture.*' 'Pairs/ClosedForm.*/12' 'Stories.*' \
    'Sql.ThatTakes*' 'BenchResume.FinishedRows*' 'BenchMethods.EveryDraft*' 'BenchWidths.OfPresets*' \
    'LlamaFields.TakeHuge*' 'FieldsOfTheDocument.*' 'Devices.MayDiffer*' 'Devices.ThatAreLost*' 'Devices.PassesAre*' \
    'Devices.WriteTheText*' 'VulkanProgram.*' 'VulkanHeads.*TheBits*' 'VulkanPanels.*ForEvery*' 'VulkanExperts.MultiplyWith*' 'Shapes/VulkanStates.*/1HeadsOf6' \
    'Shapes/RecurrentKernels.*/3HeadsOf7' 'KvStore.GivesWhat*' 'CudaProduct.StreamsRowsBy*' 'CudaExperts.MultiplyWith*' \
    'Numbers.*' 'Cluster.*' 'Job.Measures*' 'Job.AServerWithARankThatHangs*' 'Job.GivesALongText*' 'Job.GivesTheSameTextThroughASlow*' \
    'Job.AServerThatIsEnded*' 'Job.ARankWithoutTheFile*' 'Job.AModelThatRanks*' 'Ranks.GiveTheirText*' \
    'Ranks.WithLayersOfTheirOwn*' 'JsonPage.NamesEveryField' 'SlimDrafts.*' 'Generate.ProfileShows*' 'Pressure.StoppingLets*' \
    'Kernels/MatmulAtLevel.IsNotFinite*/portable' 'ChatLimits.Counting*' 'Models/TreesOf.*7mq40gguf' \
    'StagedModel.PromptsOfManyPieces*' 'Completions.OfOneRequest*WithoutACache' \
    'Conditional.HasTheTargets*' 'Flags.ChooseWhatKeys*' \
    'Generate.ChoosesTheMethod*' 'Generate.StopWords*' 'Generate.EnvironmentVariables*' 'Generate.CompareAdds*' \
    'TokenizerVectors.MatchThoseOfGemma*' 'TokenizerVectors.MatchThoseOfLlama3' 'TokenizerVectors.MatchThoseOfQwen*' \
    'Files/RoundTripOf.*/2' 'Files/RoundTripOf.*/3' 'CostFileTest.CostsThatAreOff*' \
    'CostFileTest.AcceptanceIsLearned*' 'BenchWidths.*Contract' 'BenchMethods.EnergyIs*' 'BenchSelect.Times*' \
    'Models/RecurrentLayersOnTwins.ReadAgain*/Short*' 'Models/States.GiveItOnDevices*/Short*' 'Law.DraftsAsABlock*' \
    'Job.AProgramByItself*' 'Job.FailuresOfTheLeader*' 'TrainedDrafters.DraftForSeveral*' 'PrefixCache.ARestored*' \
    'PrefixCache.TwoConversations*' 'SamplerFields.WorkWithEvery*' 'Generate.EveryMethodRuns' 'Compare.WorksForEvery*' \
    'BundledDrafters.GainByFour*' 'Job.GivesOneProcessesText' 'Devices.DraftWithTrained*' \
    'Help.*' 'Hints.*' 'Variables.*' 'Flags.OfSettings*' 'Flags.SayWhere*' 'Flags.OfSamplers*' 'Flags.LawChooses*'
}

# long_models: prints a GoogleTest filter of the slowest whole models; other models of their architectures remain. With
# emulation or sanitizers, only tools/ci/nightly runs them.
long_models() {
  printf 'Models/Cpu.GivesTheLogitsOfTheReference/%s:' 'qwen35*' 'gptoss*' 'gemma4*' '*joined' '*yarn*' 'mistral3*' \
    'phi3*' '*formatsgrids' '*formats256'
}
