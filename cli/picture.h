/* picture.h: shared by commands that write figures as files: .svg, or .png with options. */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include "opt.h"

/* Rows of an option table: `member` is a nami_png_options. */
#define PNG_OPTIONS(type, member)                                                                  \
    {"zoom", 0,   OPT_REAL, offsetof(type, member.zoom),                                           \
     "X",    "2", NULL,     "of .png: pixels for each pixel of the .svg, 0.1 to 20",               \
     0},                                                                                           \
    {                                                                                              \
        "dark", 0, OPT_FLAG, offsetof(type, member.dark), NULL, NULL, NULL,                        \
            "of .png: dark colors (an .svg follows its viewer)", 0                                 \
    }

/* Does the name of a file end like this? */
int ends(const char *path, const char *ending);
/* Can a figure be written there?  For .png: is librsvg installed?  Before the work is done. */
int picture_check(const char *path, const nami_png_options *png, nami_err *err);
int picture_write(const char *path, const char *svg, const nami_png_options *png, nami_err *err);

#endif
