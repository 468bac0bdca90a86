#pragma once
// libcurl is opened with the first request instead of at the start of the program. With the twenty libraries that it needs, it
// would cost every start 9.5 ms (measured: libcurl 7.88, Debian 12), although reading a photo or listing books needs no network.
//
// The second reason for this header is that curl_easy_setopt() and curl_easy_getinfo() are variadic, and Swift does not import
// variadic functions. There is one function for each kind of argument, without any logic. Remove these functions when Swift
// imports variadic functions.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <stddef.h>

struct ccurl {
    __typeof__(curl_global_init) *global_init;
    __typeof__(curl_version) *version;
    __typeof__(curl_getdate) *getdate;
    __typeof__(curl_slist_append) *slist_append;
    __typeof__(curl_slist_free_all) *slist_free_all;
    __typeof__(curl_easy_init) *easy_init;
    __typeof__(curl_easy_cleanup) *easy_cleanup;
    __typeof__(curl_easy_strerror) *easy_strerror;
    __typeof__(curl_easy_setopt) *easy_setopt;
    __typeof__(curl_easy_getinfo) *easy_getinfo;
    __typeof__(curl_multi_init) *multi_init;
    __typeof__(curl_multi_cleanup) *multi_cleanup;
    __typeof__(curl_multi_add_handle) *multi_add_handle;
    __typeof__(curl_multi_remove_handle) *multi_remove_handle;
    __typeof__(curl_multi_perform) *multi_perform;
    __typeof__(curl_multi_poll) *multi_poll;
    __typeof__(curl_multi_wakeup) *multi_wakeup;
    __typeof__(curl_multi_info_read) *multi_info_read;
};

// Fills the table. Returns NULL, or the loader's message if anything is missing. The message is valid until this thread's next dl
// call.
static inline const char *ccurl_open(struct ccurl *table) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return dlerror();
#define CCURL_FIND(name) \
    if ((table->name = (__typeof__(table->name))dlsym(library, "curl_" #name)) == NULL) return dlerror()
    CCURL_FIND(global_init);
    CCURL_FIND(version);
    CCURL_FIND(getdate);
    CCURL_FIND(slist_append);
    CCURL_FIND(slist_free_all);
    CCURL_FIND(easy_init);
    CCURL_FIND(easy_cleanup);
    CCURL_FIND(easy_strerror);
    CCURL_FIND(easy_setopt);
    CCURL_FIND(easy_getinfo);
    CCURL_FIND(multi_init);
    CCURL_FIND(multi_cleanup);
    CCURL_FIND(multi_add_handle);
    CCURL_FIND(multi_remove_handle);
    CCURL_FIND(multi_perform);
    CCURL_FIND(multi_poll);
    CCURL_FIND(multi_wakeup);
    CCURL_FIND(multi_info_read);
#undef CCURL_FIND
    return NULL;
}

typedef size_t (*ccurl_data_function)(char *data, size_t size, size_t count, void *context);
typedef curl_socket_t (*ccurl_socket_function)(void *context, curlsocktype purpose, struct curl_sockaddr *address);

static inline CURLcode ccurl_set_long(const struct ccurl *table, CURL *easy, CURLoption option, long value) {
    return table->easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_set_offset(const struct ccurl *table, CURL *easy, CURLoption option, curl_off_t value) {
    return table->easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_set_text(const struct ccurl *table, CURL *easy, CURLoption option, const char *value) {
    return table->easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_set_pointer(const struct ccurl *table, CURL *easy, CURLoption option, void *value) {
    return table->easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_set_data_function(
    const struct ccurl *table, CURL *easy, CURLoption option, ccurl_data_function function) {
    return table->easy_setopt(easy, option, function);
}
static inline CURLcode ccurl_set_socket_function(const struct ccurl *table, CURL *easy, ccurl_socket_function function) {
    return table->easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, function);
}
static inline CURLcode ccurl_get_long(const struct ccurl *table, CURL *easy, CURLINFO info, long *value) {
    return table->easy_getinfo(easy, info, value);
}
static inline CURLcode ccurl_get_text(const struct ccurl *table, CURL *easy, CURLINFO info, const char **value) {
    return table->easy_getinfo(easy, info, value);
}
static inline CURLcode ccurl_get_double(const struct ccurl *table, CURL *easy, CURLINFO info, double *value) {
    return table->easy_getinfo(easy, info, value);
}
// Returns the next transfer that has ended, with its result; NULL if there is none. This is a C function because CURLMsg contains
// a union.
static inline CURL *ccurl_next_ended(const struct ccurl *table, CURLM *multi, CURLcode *result) {
    int waiting;
    CURLMsg *message;
    while ((message = table->multi_info_read(multi, &waiting)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    }
    return NULL;
}
