/* dialect.h: dialects of the model language. */
#ifndef MODEL_LANG_DIALECT_H
#define MODEL_LANG_DIALECT_H

enum dialect { NATIVE, BUGS };

#endif
