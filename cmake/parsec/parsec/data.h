/* JDF files include this name of PaRSEC's; Fairlead has what it means in headers of its own. */
#include <fairlead/parsec_compat.h>
