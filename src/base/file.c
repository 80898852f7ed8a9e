#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

int file_read(const char *path, struct str *text, nami_err *err)
{
    int is_stdin = strcmp(path, "-") == 0, rc = 0;
    FILE *f = is_stdin ? stdin : fopen(path, "rb");
    if (!f) return err_set(err, NAMI_EFILE, "cannot open: %s", strerror(errno));
    char buf[1 << 16];
    size_t n;
    while ((n = fread(buf, 1, sizeof buf, f)) > 0) str_putn(text, buf, n);
    if (ferror(f)) rc = err_set(err, NAMI_EFILE, "cannot read: %s", strerror(errno));
    str_putn(text, "", 0); /* an empty file is an empty text, not NULL */
    if (!rc && text->oom) rc = err_nomem(err);
    if (!is_stdin) fclose(f);
    return rc;
}

int file_write(const char *path, const char *data, size_t n, nami_err *err)
{
    struct str tmp = {0};
    struct stat st;
    int rc = 0, fd = -1;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) { /* /dev/stdout and pipes: no renaming */
        FILE *f = fopen(path, "wb");
        if (!f || fwrite(data, 1, n, f) != n)
            rc = err_set(err, NAMI_EFILE, "cannot write: %s", strerror(errno));
        if (f && fclose(f) && !rc)
            rc = err_set(err, NAMI_EFILE, "cannot write: %s", strerror(errno));
        return rc;
    }
    str_printf(&tmp, "%s.XXXXXX", path);
    if (tmp.oom) {
        rc = err_nomem(err);
        goto out;
    }
    fd = mkstemp(tmp.s);
    if (fd < 0) {
        rc = err_set(err, NAMI_EFILE, "cannot create: %s", strerror(errno));
        goto out;
    }
    mode_t mask = umask(0);
    umask(mask);
    size_t done = 0;
    while (done < n) {
        ssize_t k = write(fd, data + done, n - done);
        if (k < 0 && errno != EINTR) break;
        if (k > 0) done += (size_t)k;
    }
    int bad = done < n || fchmod(fd, 0666 & ~mask);
    bad |= close(fd) != 0;
    if (bad || rename(tmp.s, path)) {
        rc = err_set(err, NAMI_EFILE, "cannot write: %s", strerror(errno));
        unlink(tmp.s);
    }
out:
    str_free(&tmp);
    return rc;
}
