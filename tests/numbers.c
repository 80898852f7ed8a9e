/* numbers.c: a calculator for verify/numerics.py: reads lines "DISTRIBUTION FUNCTION NUMBER...", or
   "- NAME NUMBER..." for special functions ("function NAME NUMBER...": of the model language), and
   prints a number for each. */
#include "numbers.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        const char *who = strtok(line, " \n"), *what = strtok(NULL, " \n"), *word;
        double a[NUMBER_ARGS] = {0};
        int n = 0, known = 0;
        while ((word = strtok(NULL, " \n")) && n < NUMBER_ARGS) a[n++] = strtod(word, NULL);
        double v = who && what ? number(who, what, a, &known) : NAN;
        if (known)
            printf("%.17g\n", v);
        else
            puts("?");
        fflush(stdout);
    }
    return 0;
}
