// See cases.hpp.
#include "whole/texts/cases.hpp"

#include <fairlead/error.hpp>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>

// An allocation whose size a text controls is a mistake, also on machines with much memory.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "max_allocation_size_mb=1024"; }

namespace fairlead::tests {

namespace {

constexpr unsigned longest_seconds = 60;
constexpr std::uint64_t cases_in_a_process = 250;

/// Persists after the process that writes it.
struct Page {
  std::uint64_t seed, accepted;
  std::size_t size;
  char text[(1 << 20) - 24];
};

std::uint64_t number_or(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::string shown(std::string_view text) {
  std::string out;
  for (const char letter : text.substr(0, 3000))
    if (letter == '\n' || (letter >= ' ' && letter < 127))
      out += letter;
    else
      out += "\\x" + std::string(1, "0123456789abcdef"[static_cast<unsigned char>(letter) >> 4]) +
             std::string(1, "0123456789abcdef"[static_cast<unsigned char>(letter) & 15]);
  return out;
}

std::string ending_of(int status) {
  return WIFSIGNALED(status) ? "a signal: " + std::string(::strsignal(WTERMSIG(status)))
                             : "exit status " + std::to_string(WEXITSTATUS(status));
}

/// The failure of the process.
std::string outcome(const std::function<void()>& read, std::uint64_t& accepted) {
  try {
    read();
    ++accepted;
  } catch (const Error& error) {
    if (std::getenv("TEXTS_SHOW") != nullptr) std::fprintf(stderr, "%.300s\n", error.what());
    if (std::string_view(error.what()).empty()) return "an error that says nothing";
  } catch (const std::exception& error) {
    return std::string("not an error of Fairlead's: ") + error.what();
  } catch (...) {
    return "something is thrown that is no exception";
  }
  return {};
}

/// In a separate process: the seeds from `begin` to `end`, until one fails. Never returns.
[[noreturn]] void run_in_child(Page& page, std::uint64_t begin, std::uint64_t end, const Case& one) {
  for (page.seed = begin; page.seed < end; ++page.seed) {
    page.size = 0;
    Random random(page.seed);
    const std::string text = one.make(random);
    page.size = std::min(text.size(), sizeof page.text);
    std::memcpy(page.text, text.data(), page.size);
    ::alarm(longest_seconds);
    const std::string wrong = outcome([&] { one.read(text); }, page.accepted);
    if (wrong.empty()) continue;
    std::fprintf(stderr, "%s\n", wrong.c_str());
    std::_Exit(1);
  }
  std::_Exit(0);
}

}  // namespace

void run_cases(const char* what, std::uint64_t count, const Case& one) {
  const std::uint64_t first = number_or("TEXTS_SEED", 1), last = first + number_or("TEXTS_CASES", count);
  std::printf("%s: the seeds %llu to %llu\n", what, static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(last - 1));
  void* const memory =
      ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Page& page = *static_cast<Page*>(memory);
  int wrong = 0;
  for (std::uint64_t begin = first; begin < last && wrong < 10;) {
    const std::uint64_t end = std::min(begin + cases_in_a_process, last);
    std::fflush(nullptr);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) run_in_child(page, begin, end, one);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    begin = end;
    if (status == 0) continue;
    ++wrong;
    ADD_FAILURE() << what << ", TEXTS_SEED=" << page.seed << ": " << ending_of(status) << "\n"
                  << shown({page.text, page.size});
    begin = page.seed + 1;
  }
  std::printf("%s: %llu were read without complaint\n", what, static_cast<unsigned long long>(page.accepted));
  ::munmap(memory, sizeof(Page));
}

}  // namespace fairlead::tests
