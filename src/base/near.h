/* near.h: "did you mean ...?" */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H

#include <stddef.h>

/* How far is s[len] from word: the number of letters to change, insert or drop,
   where another case costs nothing but breaks ties, and a word that begins with
   s is near.  INT_MAX if more than about one letter in three is wrong, or either
   is longer than 64. */
int near_distance(const char *s, size_t len, const char *word);

#endif
