/* replay.c: every input of fuzz/corpus, once, through its target of fuzz/, without libFuzzer: what
   fuzzing found stays mended, and the targets compile.  replay FOLDER; build/tests/replay.def has a
   row for each target. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TARGET(name) int fuzz_##name(const uint8_t *data, size_t len);
#include "replay.def"
#undef TARGET

static const struct {
    const char *name;
    int (*run)(const uint8_t *data, size_t len);
} targets[] = {
#define TARGET(name) {#name, fuzz_##name},
#include "replay.def"
#undef TARGET
};

static void run_file(int (*run)(const uint8_t *, size_t), const char *path)
{
    enum { MOST = 1 << 20 };
    uint8_t *data = malloc(MOST);
    FILE *f = fopen(path, "rb");
    if (!data || !f) abort();
    size_t n = fread(data, 1, MOST, f);
    fclose(f);
    fprintf(stderr, "%s\n", path); /* the last one, if it crashes */
    run(data, n);
    free(data);
}

int main(int argc, char **argv)
{
    int bad = 0, all = 0;
    for (size_t t = 0; t < sizeof targets / sizeof *targets && argc == 2; t++) {
        char path[4096];
        int n = 0;
        snprintf(path, sizeof path, "%s/%s", argv[1], targets[t].name);
        DIR *folder = opendir(path);
        for (struct dirent *e; folder && (e = readdir(folder));) {
            if (e->d_name[0] == '.') continue;
            snprintf(path, sizeof path, "%s/%s/%s", argv[1], targets[t].name, e->d_name);
            run_file(targets[t].run, path);
            n++;
        }
        if (folder) closedir(folder);
        if (n == 0) fprintf(stderr, "no inputs for %s\n", targets[t].name), bad = 1;
        all += n;
    }
    printf("%d inputs\n", all);
    return bad || all == 0;
}
