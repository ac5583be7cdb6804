// Checks of what must hold inside Fairlead, whatever a program does. They stay on in every build; a failure
// is an Error that names the fact, so that a run ends with a message and a test can see it.
#pragma once

namespace fairlead {

/// Throws Error("internal: ...") naming the fact and the place.
[[noreturn, gnu::cold, gnu::noinline]] void broken_inside(const char* fact, const char* file, int line);

/// `fact` says in words what holds, e.g. "a copy that is taken back has not started".
constexpr void ensure(bool holds, const char* fact, const char* file = __builtin_FILE(),
                      int line = __builtin_LINE()) {
  if (!holds) [[unlikely]]
    broken_inside(fact, file, line);
}

}  // namespace fairlead
