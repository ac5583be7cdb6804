// A shared object whose symbol is a function: what is at its address is no entry of a policy.
extern "C" __attribute__((visibility("default"))) int fairlead_policy() { return 1; }
