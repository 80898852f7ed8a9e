/* near.h: "did you mean ...?" */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H

#include <limits.h>
#include <stddef.h>

/* How far is s[len] from word: the number of letters to change, insert or drop,
   where another case costs nothing but breaks ties, and a word that begins with
   s is near.  INT_MAX if more than about one letter in three is wrong, or either
   is longer than 64. */
int near_distance(const char *s, size_t len, const char *word);

/* The nearest of many words; word is NULL and index -1 as long as none is near:

       struct near best = NEAR_NONE;
       for (int i = 0; words[i]; i++) near_try(&best, s, len, words[i], i); */
struct near {
    const char *word;
    int index, far;
};
#define NEAR_NONE                                                                                  \
    {                                                                                              \
        NULL, -1, INT_MAX                                                                          \
    }
void near_try(struct near *best, const char *s, size_t len, const char *word, int index);

#endif
