// A shared object whose symbol is smaller than what is looked for behind it.
extern "C" {
extern __attribute__((visibility("default"))) const int fairlead_policy;
const int fairlead_policy = 1;
}
