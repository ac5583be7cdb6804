// Shared by the tests of misuse of the library: settings, a few codelets, and the text of an error.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <string>
#include <string_view>

namespace fairlead::misuse {

/// The calling file, as in error messages.
inline std::string line_of(int line, std::string_view file = __builtin_FILE()) {
  return std::string(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(line);
}

inline Config settings(std::size_t workers = 2, const char* memory = "1MiB") {
  Config config;
  config.set("workers", workers);
  config.set("memory", memory);
  config.set("bind-threads", false);
  return config;
}

/// The text of the exception of `call`, which must be an Expected; otherwise the test fails and the text is empty.
template <class Expected, class Call>
std::string refused(Call&& call) {
  try {
    call();
  } catch (const Expected& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another type was thrown: " << error.what();
    return {};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

/// "1.25MiB" from the error "allow at least 1.25 MiB of memory".
inline std::string advised_in(const std::string& text) {
  constexpr std::string_view before = "allow at least ", after = " of memory";
  const std::size_t begin = text.find(before), end = text.find(after, begin);
  if (begin == std::string::npos || end == std::string::npos) {
    ADD_FAILURE() << "nothing is advised in: " << text;
    return "1MiB";
  }
  std::string size = text.substr(begin + before.size(), end - begin - before.size());
  if (const auto bytes = size.find(" bytes"); bytes != std::string::npos) size.resize(bytes);
  std::erase(size, ' ');
  return size;
}

inline const auto fill_tile = codelet("fill").cpu([](Out<Tile<double>> t, double value) {
  for (int j = 0; j < t.columns(); ++j)
    for (int i = 0; i < t.rows(); ++i) t(i, j) = value;
});
inline const auto scale_tile = codelet("scale").cpu([](InOut<Tile<double>> t, double factor) {
  for (int j = 0; j < t.columns(); ++j)
    for (int i = 0; i < t.rows(); ++i) t(i, j) *= factor;
});
inline const auto increment = codelet("increment").cpu([](InOut<int> x) { ++*x; });

/// After a mistake the runtime still works.
inline void expect_works(Runtime& runtime) {
  int x = 0;
  Flow flow(runtime);
  const auto handle = runtime.value("x", x);
  for (int i = 0; i < 10; ++i) flow.submit(increment(handle));
  flow.wait();
  EXPECT_EQ(x, 10);
}

}  // namespace fairlead::misuse
