#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
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

/* /dev/stdout and pipes: no renaming. */
static int write_through(const char *path, const char *data, size_t n, nami_err *err)
{
    FILE *f = fopen(path, "wb");
    int why = !f || fwrite(data, 1, n, f) != n ? errno : 0;
    if (f && fclose(f) && !why) why = errno;
    return why ? err_set(err, NAMI_EFILE, "cannot write: %s", strerror(why)) : 0;
}

static int sync_fd(int fd)
{
    int rc;
    do rc = fsync(fd);
    while (rc && errno == EINTR);
    return rc;
}

/* A name is on the disk when its directory is; where one may not ask for that, it is as it is.
   Cuts path. */
static int sync_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash) slash[slash == path] = 0;
    int fd = open(slash ? path : ".", O_RDONLY | O_DIRECTORY);
    if (fd < 0) return 0;
    int why = sync_fd(fd) ? errno : 0;
    close(fd);
    errno = why;
    return why && why != EINVAL && why != ENOTSUP ? -1 : 0;
}

static int write_all(int fd, const char *data, size_t n)
{
    while (n > 0) {
        ssize_t k = write(fd, data, n);
        if (k < 0 && errno != EINTR) return -1;
        if (k > 0) data += k, n -= (size_t)k;
    }
    return 0;
}

static int replace(const char *path, const char *data, size_t n, int durable, nami_err *err)
{
    struct str tmp = {0};
    struct stat st;
    int rc = 0, fd = -1;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) return write_through(path, data, n, err);
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
    int why = 0;
    if (write_all(fd, data, n) || fchmod(fd, 0666 & ~mask) || (durable && sync_fd(fd))) why = errno;
    if (close(fd) && !why) why = errno;
    if (!why && rename(tmp.s, path)) why = errno;
    if (why) {
        rc = err_set(err, NAMI_EFILE, "cannot write: %s", strerror(why));
        unlink(tmp.s);
    } else if (durable && sync_folder(tmp.s)) {
        rc = err_set(err, NAMI_EFILE, "written, but not safe from a power failure: %s",
                     strerror(errno));
    }
out:
    str_free(&tmp);
    return rc;
}

int file_write(const char *path, const char *data, size_t n, nami_err *err)
{
    return replace(path, data, n, 0, err);
}

int file_save(const char *path, const char *data, size_t n, nami_err *err)
{
    return replace(path, data, n, 1, err);
}
