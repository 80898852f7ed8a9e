/* near.c: edit distance with transpositions, for suggestions: a change of case is cheap, and a
   prefix counts as exact. */
#include "base/near.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 64, EDIT = 100, CASE = 1 }; /* prices */

static int price(char a, char b)
{
    if (a == b) return 0;
    return tolower((unsigned char)a) == tolower((unsigned char)b) ? CASE : EDIT;
}

int near_distance(const char *s, size_t len, const char *word)
{
    int rows[3][LONGEST + 1], *row = rows[0], *last = rows[1], *before = rows[2];
    int n = (int)strnlen(word, LONGEST + 1), m = (int)len;
    if (n > LONGEST || len > LONGEST || len == 0) return INT_MAX;
    if (m >= 2 && m <= n && strncmp(s, word, len) == 0) return 0;
    for (int j = 0; j <= n; j++) row[j] = j * EDIT;
    for (int i = 1; i <= m; i++) {
        int *t = before;
        before = last, last = row, row = t;
        row[0] = i * EDIT;
        for (int j = 1; j <= n; j++) {
            int best = last[j - 1] + price(s[i - 1], word[j - 1]);
            if (last[j] + EDIT < best) best = last[j] + EDIT;
            if (row[j - 1] + EDIT < best) best = row[j - 1] + EDIT;
            if (i > 1 && j > 1 && s[i - 1] == word[j - 2] && s[i - 2] == word[j - 1] &&
                before[j - 2] + EDIT < best) /* two letters that changed places are one mistake */
                best = before[j - 2] + EDIT;
            row[j] = best;
        }
    }
    int wrong = row[n] / EDIT, longer = m > n ? m : n;
    return wrong > (m < 3 ? 1 : m / 3) || wrong >= longer ? INT_MAX : row[n] + 1;
}

void near_try(struct near *best, const char *s, size_t len, const char *word, int index)
{
    int far = near_distance(s, len, word);
    if (far < best->far) *best = (struct near){word, index, far};
}
