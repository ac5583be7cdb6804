// What ThreadSanitizer calls a race and is none; in every test program that it watches.

extern "C" const char* __tsan_default_suppressions();

/// An exception is freed by whichever thread lets go of it last. The count of its owners is in the C++ library, which is
/// not instrumented, so that the others' earlier reading and this thread's freeing look unordered.
/// tests/base/shared_exception_test.cpp fails without these lines.
extern "C" const char* __tsan_default_suppressions() {
  return "race:std::__exception_ptr::exception_ptr::_M_release\n"
         "race:std::runtime_error::~runtime_error\n"
         "race:std::logic_error::~logic_error\n";
}
