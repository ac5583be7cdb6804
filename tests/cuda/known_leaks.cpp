// Intended leaks, suppressed for LeakSanitizer.

extern "C" const char* __lsan_default_suppressions();

/// No function may be called for a lost device, so that the libraries' handles for it stay until the process ends. For all other
/// devices every_call_test.cpp checks that each handle is destroyed.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:fairlead::linalg::Cublas::handle\n"
         "leak:fairlead::linalg::Cusolver::handle\n";
}
