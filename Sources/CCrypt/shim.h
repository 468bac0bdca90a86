#pragma once
// The functions crypt_rn and crypt_gensalt_rn of libxcrypt, which use no shared buffer.
#include <crypt.h>
