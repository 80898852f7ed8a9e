/* own_names.c: a program whose functions have the names of internal ones of the library, or which
   calls the socket function `accept` (SOCKET).  Neither may meet the library's:  own_names
   schools.nami schools.json */
#include <errno.h>
#include <nami.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static int calls; /* of the functions below */

#ifdef SOCKET
static int own(void)
{
    errno = 0;
    return accept(-1, NULL, NULL) == -1 && errno == EBADF && calls == 0;
}
#else
int next(void), draw(void), check(void), fail(void), chol(void);

int accept(int fd, struct sockaddr *restrict from, socklen_t *restrict len)
{
    (void)fd, (void)from, (void)len;
    return ++calls;
}
int next(void) { return ++calls; }
int draw(void) { return ++calls; }
int check(void) { return ++calls; }
int fail(void) { return ++calls; }
int chol(void) { return ++calls; }

static int own(void)
{
    int before = calls; /* not 0 if the library has called one of them */
    int last = accept(0, NULL, NULL) + next() + draw() + check() + fail() + chol();
    return before == 0 && last == 21 && calls == 6;
}
#endif

int main(int argc, char **argv)
{
    nami_err err = {.msg = "which model?"};
    nami_model_options opt = {0};
    nami_data *values = NULL;
    nami_model *m = NULL;
    nami_inverse *inv = NULL;
    int rc = argc < 2 ? NAMI_EUSAGE : nami_data_new(&values, &err);
    for (int i = 2; i < argc && !rc; i++) rc = nami_data_read(values, argv[i], &err);
    opt.data = values;
    if (!rc) rc = nami_model_read(argv[1], &opt, &m, &err);
    if (!rc) rc = nami_invert(nami_model_structure(m), NULL, &inv, &err);
    double *x = rc ? NULL : calloc((size_t)nami_model_size(m) * 10, sizeof *x);
    if (!rc) rc = x ? nami_model_simulate(m, 1, 10, 1, x, &err) : NAMI_ENOMEM;
    if (rc) fprintf(stderr, "%s\n", err.msg);
    free(x);
    nami_inverse_free(inv);
    nami_model_free(m);
    nami_data_free(values);
    if (!own()) rc = 1, fprintf(stderr, "a function of this program was not its own\n");
    return rc ? 2 : 0;
}
