# Shared by ./run, ./test and the other scripts, which source it: missing packages are installed or named,
# and a stage of work says what it does and how long that takes, and no more unless it fails.
# shellcheck shell=bash

# Prints what scripts/packages.txt lists for the given purposes (build, test, bench).
packages_for() {
  local purpose
  for purpose in "$@"; do
    awk -v purpose="$purpose" '!/^#/ && $2 == purpose { print $1 }' scripts/packages.txt
  done
}

# Prints those of the named packages that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    # shellcheck disable=SC2016  # dpkg-query expands ${...} itself
    [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      echo "$package"
  done
}

# Installs what is missing for the given purposes; without root, says how and stops. When nothing is missing
# apt is not even started: that is quick, and works without a network.
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

# How long a stage usually takes, in words: as the last time here, or, the first time, by this table (two cores).
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

# Copies what comes in to the file, and shows on the terminal how far ninja is: of "[3/61] Building ..." the numbers.
show_progress() {
  local line announced=$1 log=$2
  while IFS= read -r line || [[ -n $line ]]; do
    printf '%s\n' "$line" >>"$log"
    if [[ $line =~ ^\[([0-9]+/[0-9]+)\] ]]; then printf '\r%s  [%s]\033[K' "$announced" "${BASH_REMATCH[1]}"; fi
  done
}

# stage NAME COMMAND...: says before what is done and what it usually takes, runs the command, and prints one line with the
# time it took; all its output follows if it fails. On a terminal ninja's progress is shown meanwhile, but not of a stage in
# the background. The output stays in build/logs. Returns the command's status.
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

# show_failures NAME: what a stage that failed has to say for itself, once more and in short: the first failures
# with what follows them, and its last lines. For whoever sees only the end of a long output.
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

# The one environment of Python.
make_environment() {
  [[ -x .venv/bin/python ]] || /usr/bin/python3 -m venv --without-pip --system-site-packages .venv
}

# Prints where the compiler of CUDA is that scripts/fetch-nvcc has fetched; fails if there is none.
find_fetched_nvcc() {
  local -a found=("$PWD"/.venv/lib/python3*/site-packages/nvidia/cu*/bin/nvcc)
  [[ -x ${found[0]} ]] && echo "${found[0]}"
}

# build PRESET [TARGET]: configures and builds; as many jobs as this process may use processors, through ccache where it
# is installed. Its tests are long ones if LONG_TESTS is ON, and leave out those of another build if TESTS_ONCE is ON;
# with MEASUREMENTS=OFF it has no benchmarks but those that tests start. NVCC is the compiler of CUDA, if CMake finds none.
# None of these names begins with FAIRLEAD_: programs that inherit them would reject an unknown setting.
build() {
  local preset=$1
  shift
  if command -v ccache >/dev/null; then
    unset CCACHE_BASEDIR  # tests find their files by __FILE__, which it makes relative
    export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
    export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS-pch_defines,time_macros}  # or it keeps nothing that has such a header
  fi
  cmake --preset "$preset" -DFAIRLEAD_LONG_TESTS="${LONG_TESTS-OFF}" \
    -DFAIRLEAD_TESTS_ONCE="${TESTS_ONCE-OFF}" \
    -DFAIRLEAD_BUILD_MEASUREMENTS="${MEASUREMENTS-ON}" ${NVCC:+-DFAIRLEAD_NVCC="$NVCC"} &&
    cmake --build --preset "$preset" --parallel "$(nproc)" ${1:+--target "$1"}
}
