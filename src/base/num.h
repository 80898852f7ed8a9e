/* num.h: prints numbers with the fewest digits that reproduce them exactly. */
#ifndef BASE_NUM_H
#define BASE_NUM_H

enum { NUM_MAX = 32 };

/* Writes the finite x as the shortest of %.15g, %.16g and %.17g that reads back as x;
   returns its length. */
int num_print(char buf[NUM_MAX], double x);

#endif
