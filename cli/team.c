/* team.c: the processes that work on one command. */
#include "team.h"

struct team team;

int is_first(void) { return !team.exchange || !team.exchange->rank; }
