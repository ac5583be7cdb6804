# Functions for ./run, ./test and the other scripts, which source this file: they install or name missing packages, and
# run stages of work that print a name and a time, and their output only on failure.
# shellcheck shell=bash

# Prints what scripts/packages.txt lists for the given purposes (build, test, bench).
packages_for() {
  local purpose
  for purpose in "$@"; do
    awk -v purpose="$purpose" '!/^#/ && $2 == purpose { print $1 }' scripts/packages.txt
  done
}

# Prints the given packages that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    # shellcheck disable=SC2016  # dpkg-query expands ${...} itself
    [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      echo "$package"
  done
}

# Installs the missing packages for the given purposes; without root, prints the command and exits. If none is missing,
# apt is not started: this is fast and works without a network.
require_packages() {
  local -a wanted missing
  if ! command -v dpkg-query >/dev/null; then
    echo "This is not a Debian system: the packages of scripts/packages.txt must be there already." >&2
    return 0
  fi
  mapfile -t wanted < <(packages_for "$@")
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    echo "Packages are missing. Install them, then start this again:" >&2
    echo "  sudo apt-get update && sudo apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  stage "install ${#missing[@]} packages" install_packages "${missing[@]}" || exit 1
}

install_packages() {
  export DEBIAN_FRONTEND=noninteractive
  apt-get update --quiet && apt-get install --quiet --yes --no-install-recommends "$@"
}

# The expected time of a stage, in words: from the last run here, or from this table (two cores).
usual_time() {
  local kept="build/logs/${1//[^a-zA-Z0-9]/-}.seconds" seconds
  if [[ -r $kept ]] && seconds=$(<"$kept") && [[ $seconds =~ ^[0-9]+$ ]]; then
    echo "$seconds s the last time"
    return
  fi
  case $1 in
    install*) echo "usually 1 to 3 minutes" ;;
    "compiler of CUDA") echo "usually below a minute" ;;
    "release build") echo "the first time 5 to 15 minutes, later some seconds" ;;
    "thread sanitizer" | "address and undefined behaviour sanitizers") echo "the first time 10 to 30 minutes" ;;
    "clang 14") echo "the first time 5 to 10 minutes" ;;
    *) echo "usually below a minute" ;;
  esac
}

# Copies its input to the file, and shows ninja's progress on the terminal: the numbers of "[3/61] Building ...".
show_progress() {
  local line announced=$1 log=$2
  while IFS= read -r line || [[ -n $line ]]; do
    printf '%s\n' "$line" >>"$log"
    if [[ $line =~ ^\[([0-9]+/[0-9]+)\] ]]; then printf '\r%s  [%s]\033[K' "$announced" "${BASH_REMATCH[1]}"; fi
  done
}

# stage NAME COMMAND...: prints the name and the expected time, runs the command, and prints one line with the time; on
# failure, also the command's output. On a terminal it shows ninja's progress, except for a stage in the background. The
# output stays in build/logs. Returns the command's status.
stage() {
  local name=$1 log status=0 start=$SECONDS announced clear=
  shift
  mkdir -p build/logs
  log="build/logs/${name//[^a-zA-Z0-9]/-}.log"
  announced=$(printf '%-44s  ... (%s)' "$name" "$(usual_time "$name")")
  : >"$log"
  if [[ -t 1 && $BASHPID == "$$" ]]; then
    clear=$'\r\033[K'
    printf '%s' "$announced"
    { "$@" 2>&1 || printf '%s' $? >"$log.status"; } | show_progress "$announced" "$log"
    if [[ -r $log.status ]]; then
      status=$(<"$log.status")
      rm -f "$log.status"
    fi
  else
    printf '%s\n' "$announced"
    "$@" >"$log" 2>&1 || status=$?
  fi
  if ((status == 0)); then
    printf '%s%-44s %4d s\n' "$clear" "$name" $((SECONDS - start))
    echo $((SECONDS - start)) >"${log%.log}.seconds"
  else
    printf '%s' "$clear"
    cat "$log"
    printf '%-44s %4d s  FAILED (status %d)\n' "$name" $((SECONDS - start)) "$status"
  fi
  return "$status"
}

# show_failures NAME: prints a summary of a failed stage: the first failures with the lines after them, and its last
# lines. Useful if only the end of a long output is visible.
show_failures() {
  local log="build/logs/${1//[^a-zA-Z0-9]/-}.log"
  [[ -f $log ]] || return 0
  printf '\n---- %s\n' "$1"
  grep --extended-regexp --after-context=12 --max-count=6 \
    'WARNING: ThreadSanitizer|ERROR: [A-Za-z]*Sanitizer|runtime error:|: Failure|\*\*\*(Failed|Exception|Timeout)|error:|Error ' \
    "$log" | head --lines=80
  printf '%s\n' '....'
  tail --lines=12 "$log"
}

# Prints the version that CMakeLists.txt states; nothing if it states none.
project_version() { sed -n 's/^project(fairlead VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt; }

# Creates the Python environment, .venv.
make_environment() {
  [[ -x .venv/bin/python ]] || /usr/bin/python3 -m venv --without-pip --system-site-packages .venv
}

# Prints the path of the CUDA compiler from scripts/fetch-nvcc; fails if there is none.
find_fetched_nvcc() {
  local -a found=("$PWD"/.venv/lib/python3*/site-packages/nvidia/cu*/bin/nvcc)
  [[ -x ${found[0]} ]] && echo "${found[0]}"
}

# build PRESET [TARGET]: configures and builds, with one job per available processor, through ccache if installed.
# LONG_TESTS=ON selects long tests; TESTS_ONCE=ON leaves out the tests of other builds; MEASUREMENTS=OFF leaves out
# benchmarks that no test starts. NVCC is the CUDA compiler if CMake finds none. These names must not start with FAIRLEAD_:
# programs that inherit them would reject an unknown setting.
build() {
  local preset=$1
  shift
  if command -v ccache >/dev/null; then
    unset CCACHE_BASEDIR  # tests find their files by __FILE__, which ccache would make relative
    export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
    export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS-pch_defines,time_macros}  # otherwise ccache does not cache files with a precompiled header
  fi
  cmake --preset "$preset" -DFAIRLEAD_LONG_TESTS="${LONG_TESTS-OFF}" \
    -DFAIRLEAD_TESTS_ONCE="${TESTS_ONCE-OFF}" \
    -DFAIRLEAD_BUILD_MEASUREMENTS="${MEASUREMENTS-ON}" ${NVCC:+-DFAIRLEAD_NVCC="$NVCC"} &&
    cmake --build --preset "$preset" --parallel "$(nproc)" ${1:+--target "$1"}
}
