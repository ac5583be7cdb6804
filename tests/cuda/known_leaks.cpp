// What LeakSanitizer calls a leak and is meant.

extern "C" const char* __lsan_default_suppressions();

/// Nothing may be called for a lost device, so that the libraries' handles for it stay until the process ends. Of all other devices
/// every_call_test.cpp counts that each handle made is given back.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:fairlead::linalg::Cublas::handle\n"
         "leak:fairlead::linalg::Cusolver::handle\n";
}
