#pragma once
// libxcrypt: crypt_rn and crypt_gensalt_rn, which use no shared buffer.
#include <crypt.h>
