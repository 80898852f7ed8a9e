/* file.c: reads files, and replaces them atomically: writes a temporary file in the same directory,
   then renames it. */
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

static int sync_fd(int fd)
{
    int rc;
    do rc = fsync(fd);
    while (rc && errno == EINTR);
    return rc;
}

/* Flushes the directory entry to disk; errors are ignored if the directory cannot be opened.
   Truncates path. */
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

/* A name that no file has yet: O_EXCL sees to that, and open() applies the umask by itself. */
static int make_new(const char *path, mode_t mode, struct str *tmp, int *fd, nami_err *err)
{
    enum { TRIES = 100 };
    for (int i = 0; i < TRIES; i++) {
        uint64_t random;
        if (getentropy(&random, sizeof random)) break;
        tmp->n = 0;
        str_printf(tmp, "%s.%010llx", path, (unsigned long long)random & 0xffffffffffu);
        if (tmp->oom) return err_nomem(err);
        *fd = open(tmp->s, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (*fd >= 0) return 0;
        if (errno != EEXIST) break;
    }
    return err_set(err, NAMI_EFILE, "cannot create: %s", strerror(errno));
}

/* Copies the permissions of the replaced file. If its group cannot be set, the group gets the
   permissions of others. */
static int keep_mode(int fd, const struct stat *old)
{
    struct stat st;
    mode_t mode = old->st_mode & 0777;
    if (fstat(fd, &st)) return -1;
    if (st.st_gid != old->st_gid && fchown(fd, (uid_t)-1, old->st_gid))
        mode = (mode & 0707) | (mode & 07) << 3;
    return fchmod(fd, mode);
}

/* Creates a temporary file next to path; old: the current file, or NULL. */
static int make(const char *path, const struct stat *old, struct str *tmp, int *fd, nami_err *err)
{
    int rc = make_new(path, old ? 0600 : 0666, tmp, fd, err);
    if (rc || !old || keep_mode(*fd, old) == 0) return rc;
    int why = errno;
    close(*fd);
    unlink(tmp->s);
    return err_set(err, NAMI_EFILE, "cannot write: %s", strerror(why));
}

int file_begin(struct file_out *f, const char *path, nami_err *err)
{
    struct stat st;
    int there = stat(path, &st) == 0;
    *f = (struct file_out){.fd = -1, .path = path};
    if (there && !S_ISREG(st.st_mode)) { /* /dev/stdout and pipes: no renaming */
        f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        return f->fd >= 0 ? 0 : err_set(err, NAMI_EFILE, "cannot write: %s", strerror(errno));
    }
    int rc = make(path, there ? &st : NULL, &f->tmp, &f->fd, err);
    if (rc) str_free(&f->tmp);
    return rc;
}

int file_put(struct file_out *f, const char *data, size_t n, nami_err *err)
{
    if (write_all(f->fd, data, n) == 0) return 0;
    return err_set(err, NAMI_EFILE, "cannot write: %s", strerror(errno));
}

int file_end(struct file_out *f, int durable, nami_err *err)
{
    int rc = 0, why = 0;
    if (durable && f->tmp.s && sync_fd(f->fd)) why = errno;
    if (close(f->fd) && !why) why = errno;
    if (f->tmp.s && !why && rename(f->tmp.s, f->path)) why = errno;
    if (why) {
        rc = err_set(err, NAMI_EFILE, "cannot write: %s", strerror(why));
        if (f->tmp.s) unlink(f->tmp.s);
    } else if (durable && f->tmp.s && sync_folder(f->tmp.s)) {
        rc = err_set(err, NAMI_EFILE, "written, but not safe from a power failure: %s",
                     strerror(errno));
    }
    str_free(&f->tmp);
    return rc;
}

void file_drop(struct file_out *f)
{
    close(f->fd);
    if (f->tmp.s) unlink(f->tmp.s);
    str_free(&f->tmp);
}

int file_check(const char *path, nami_err *err)
{
    struct stat st;
    struct file_out f;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return 0; /* opening a pipe may block until it is read */
    int rc = file_begin(&f, path, err);
    if (!rc) file_drop(&f);
    return rc;
}

int file_spool(const char *path, int *fd, nami_err *err)
{
    struct str tmp = {0};
    int rc = make_new(path, 0600, &tmp, fd, err);
    if (!rc) unlink(tmp.s);
    str_free(&tmp);
    return rc;
}

static int replace(const char *path, const char *data, size_t n, int durable, nami_err *err)
{
    struct file_out f;
    int rc = file_begin(&f, path, err);
    if (rc) return rc;
    rc = file_put(&f, data, n, err);
    if (!rc) return file_end(&f, durable, err);
    file_drop(&f);
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
