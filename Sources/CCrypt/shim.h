#pragma once
// libxcrypt: crypt_rn and crypt_gensalt_rn, which need no buffer that others share.
#include <crypt.h>
