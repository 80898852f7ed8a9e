/* dialect.h: in which language a model file is written. */
#ifndef MODEL_LANG_DIALECT_H
#define MODEL_LANG_DIALECT_H

enum dialect { NATIVE, BUGS };

#endif
