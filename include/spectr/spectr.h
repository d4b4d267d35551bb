// All public headers. Each can be included alone: plan.h, verify.h, law.h and distribution.h need no engine.
//
// The headers are inline code over the C interface, <spectr.h>. Only that crosses the boundary of the
// library, so the program and the library can be built by different compilers, with different standard
// libraries (docs/cpp.md).
#pragma once

#include "spectr/completion.h"
#include "spectr/distribution.h"
#include "spectr/engine.h"
#include "spectr/error.h"
#include "spectr/law.h"
#include "spectr/methods.h"
#include "spectr/plan.h"
#include "spectr/request.h"
#include "spectr/token.h"
#include "spectr/verify.h"
#include "spectr/version.h"
