// A shared object whose symbol is smaller than an entry.
extern "C" {
extern __attribute__((visibility("default"))) const int fairlead_policy;
const int fairlead_policy = 1;
}
