/* team.h: the processes that work on one command: one, unless 'nami-mpi' started several. Each runs
   the same command; only the first prints and writes files. */
#ifndef CLI_TEAM_H
#define CLI_TEAM_H

#include <stdio.h>

#include "nami.h"

struct team {
    const nami_exchange *exchange; /* for the options of library calls; NULL: one process */
    int threads;                   /* of a process, unless the user says; 0: one per processor */
    FILE *errors;                  /* where errors go; NULL: standard error */
    /* After each step of training: does one of the processes want to stop?  All get the same
       answer: 1, 0, or an error. NULL: one process. */
    int (*agree)(int stop, nami_trainer *trainer, nami_err *err);
    int stopped; /* a signal has ended the command */
};

extern struct team team;

int is_first(void); /* is this the process that prints and writes? */

#endif
