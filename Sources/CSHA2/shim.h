#pragma once
// SHA-256 of libmd, which holds the message digests of the BSDs. Its archive is linked, so nothing is loaded for it.
#include <sha2.h>
