/* main.c: the program 'nami': one process. */
#include "cmd.h"

int main(int argc, char **argv) { return run_command(argc, argv); }
