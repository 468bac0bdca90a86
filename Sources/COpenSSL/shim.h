#pragma once
// OpenSSL 3 is opened when the first certificate is read. Linking it would cost every start 3 million instructions (measured: OpenSSL
// 3.0.19, Debian 12), although most commands need no certificate.
//
// The functions below the table are here because Swift imports neither variadic functions nor function-like macros.
#include <dlfcn.h>
#include <stdint.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#define COPENSSL_FUNCTIONS(F) \
    F(OPENSSL_init_ssl) F(ERR_clear_error) F(ERR_peek_error) F(ERR_reason_error_string) \
    F(BIO_new) F(BIO_s_mem) F(BIO_new_mem_buf) F(BIO_free) F(BIO_ctrl_pending) F(BIO_read_ex) F(BIO_write_ex) \
    F(PEM_read_bio_X509) F(PEM_read_bio_PrivateKey) F(PEM_write_bio_X509) F(PEM_write_bio_PrivateKey) \
    F(EVP_PKEY_Q_keygen) F(EVP_PKEY_free) F(EVP_sha256) \
    F(X509_new) F(X509_free) F(d2i_X509) F(i2d_X509) F(X509_set_version) F(X509_get_serialNumber) F(X509_set_pubkey) \
    F(X509_set_subject_name) F(X509_set_issuer_name) F(X509_get_subject_name) F(X509_get_issuer_name) \
    F(X509_getm_notBefore) F(X509_getm_notAfter) F(X509_get0_notBefore) F(X509_get0_notAfter) F(X509_get0_pubkey) \
    F(X509_check_private_key) F(X509_check_purpose) F(X509_sign) F(X509_verify) F(X509_add_ext) F(X509_get_ext) \
    F(X509_get_ext_by_NID) F(X509_get_ext_d2i) F(X509_EXTENSION_get_data) F(X509_EXTENSION_free) F(X509V3_set_ctx) \
    F(X509V3_EXT_conf_nid) F(X509_NAME_new) F(X509_NAME_free) F(X509_NAME_add_entry_by_txt) F(X509_NAME_cmp) \
    F(NAME_CONSTRAINTS_check) F(NAME_CONSTRAINTS_free) F(ASN1_TIME_set) F(ASN1_TIME_to_tm) F(ASN1_STRING_set) \
    F(ASN1_STRING_cmp) \
    F(TLS_server_method) F(SSL_CTX_new) F(SSL_CTX_free) F(SSL_CTX_ctrl) F(SSL_CTX_set_options) \
    F(SSL_CTX_use_certificate) F(SSL_CTX_use_PrivateKey) F(SSL_CTX_set_alpn_select_cb) F(SSL_select_next_proto) \
    F(SSL_new) F(SSL_free) F(SSL_set_bio) F(SSL_set_accept_state) F(SSL_read_ex) \
    F(SSL_write_ex) F(SSL_shutdown) F(SSL_get_error)

struct copenssl {
#define COPENSSL_FIELD(name) __typeof__(name) *name;
    COPENSSL_FUNCTIONS(COPENSSL_FIELD)
#undef COPENSSL_FIELD
};

// Fills the table. Returns NULL, or the loader's message if anything is missing. The message is valid until this thread's next dl
// call. libssl brings libcrypto with it, in which dlsym() then looks too.
static inline const char *copenssl_open(struct copenssl *table, const char *file) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return dlerror();
#define COPENSSL_FIND(name) \
    if ((table->name = (__typeof__(name) *)dlsym(library, #name)) == NULL) return dlerror();
    COPENSSL_FUNCTIONS(COPENSSL_FIND)
#undef COPENSSL_FIND
    return NULL;
}

// Returns a new key on the curve P-256.
static inline EVP_PKEY *copenssl_make_key(const struct copenssl *table) {
    return table->EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
}

// Older versions than TLS 1.2 are no longer used (RFC 8996). Sessions are kept in tickets at the client, not in memory here.
static inline int copenssl_configure(const struct copenssl *table, SSL_CTX *context) {
    table->SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    table->SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF, NULL);
    table->SSL_CTX_ctrl(context, SSL_CTRL_MODE, SSL_MODE_RELEASE_BUFFERS, NULL);
    return (int)table->SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, NULL);
}

// Adds a copy of the reference to a certificate that is sent after the server's own.
static inline int copenssl_add_to_chain(const struct copenssl *table, SSL_CTX *context, X509 *certificate) {
    return (int)table->SSL_CTX_ctrl(context, SSL_CTRL_CHAIN_CERT, 1, certificate);
}

// Chooses HTTP/1.1 if the client offers it (RFC 7301), and otherwise nothing.
static inline int copenssl_choose_http(
    SSL *session, const unsigned char **chosen, unsigned char *length, const unsigned char *offered, unsigned int count,
    void *context) {
    static const uint8_t http[] = "\x08http/1.1";
    const struct copenssl *table = (const struct copenssl *)context;
    (void)session;
    int found = table->SSL_select_next_proto((unsigned char **)chosen, length, http, sizeof http - 1, offered, count);
    return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}
