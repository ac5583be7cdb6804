// A shared object whose symbol is a function: there is no entry of a policy at its address.
extern "C" __attribute__((visibility("default"))) int fairlead_policy() { return 1; }
