// Checks of internal invariants. They stay on in every build; a failure throws an Error that names the invariant, so
// that the run ends with a message and a test can observe it.
#pragma once

namespace fairlead {

/// Throws Error("internal: ...") with the invariant and its place in the source.
[[noreturn, gnu::cold, gnu::noinline]] void internal_error(const char* fact, const char* file, int line);

/// `fact` states the invariant in words, e.g. "a cancelled copy has not started".
constexpr void ensure(bool holds, const char* fact, const char* file = __builtin_FILE(),
                      int line = __builtin_LINE()) {
  if (!holds) [[unlikely]]
    internal_error(fact, file, line);
}

}  // namespace fairlead
