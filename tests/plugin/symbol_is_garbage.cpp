// A shared object whose symbol is large enough and holds no addresses.
extern "C" {
extern __attribute__((visibility("default"))) const unsigned long fairlead_policy[4];
const unsigned long fairlead_policy[4] = {0x6c6f6f6b73206c69, 0x6b65207465787420, 0x7265616c6c792c20,
                                          0x6e6f742061206f6e};
}
