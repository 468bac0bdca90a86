#pragma once
#include <stddef.h>
#include <stdint.h>

// The types of those functions of libheif 1.x that are used. The library is opened with the first HEIC photo (dlopen) and never
// linked, and its headers are not needed for a build. Names, values and layout are those of libheif/heif.h, a stable C interface.

struct heif_error {
    int code;
    int subcode;
    const char *message;
};

enum { cheif_error_memory = 6, cheif_suberror_security_limit = 1000 };
enum { cheif_colorspace_ycbcr = 0, cheif_chroma_420 = 1, cheif_channel_y = 0 };

// Loads the decoders; since 1.13.
typedef struct heif_error (*cheif_init)(void *parameters);
typedef void *(*cheif_context_alloc)(void);
typedef void (*cheif_context_free)(void *context);
typedef struct heif_error (*cheif_context_read_from_memory_without_copy)(
    void *context, const void *bytes, size_t count, const void *options);
typedef struct heif_error (*cheif_context_get_primary_image_handle)(void *context, void **handle);
typedef void (*cheif_image_handle_release)(const void *handle);
typedef int (*cheif_image_handle_get_width)(const void *handle);
typedef int (*cheif_image_handle_get_height)(const void *handle);
typedef struct heif_error (*cheif_decode_image)(
    const void *handle, void **image, int colorspace, int chroma, const void *options);
typedef void (*cheif_image_release)(const void *image);
typedef int (*cheif_image_get_width)(const void *image, int channel);
typedef int (*cheif_image_get_height)(const void *image, int channel);
typedef int (*cheif_image_get_bits_per_pixel_range)(const void *image, int channel);
typedef const uint8_t *(*cheif_image_get_plane_readonly)(const void *image, int channel, int *stride);
