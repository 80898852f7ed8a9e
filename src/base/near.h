/* near.h: spelling suggestions, "did you mean ...?" */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H

#include <limits.h>
#include <stddef.h>

/* Edit distance between s[len] and word: letters to substitute, insert or delete; differences in
   case only break ties, and a word that starts with s is close.  INT_MAX if more than about one
   letter in three is wrong, or if either is longer than 64. */
int near_distance(const char *s, size_t len, const char *word);

/* The closest of several words; word is NULL and index -1 if none is close:

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
