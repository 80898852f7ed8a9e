/* export.h: inference networks for other programs: C source, ONNX. */
#ifndef NET_EXPORT_H
#define NET_EXPORT_H

#include "base/str.h"
#include "net/sampler.h"

/* The network with these weights `as` "c", "onnx" or "onnx-density".  draw: its sampling program
   (sampler.h).  name: of the functions; NULL: by the model's file.  Latents that are not the
   network's (exact ones, and those that no data depend on) are listed in `note`, which stays empty
   if there are none.  NAMI_EUSAGE: no such form; NAMI_EINPUT: it cannot be expressed. */
int network_export(const struct qnet *q, const struct prog *draw, const float *param,
                   const char *as, const char *name, struct str *out, struct str *note,
                   nami_err *err);

#endif
