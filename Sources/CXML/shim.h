#pragma once
#include <dlfcn.h>
#include <stddef.h>

// libxml2's reader (xmlTextReader), opened with the first answer in XML. Linking it would load ICU with every start, which takes 0.9 ms
// (measured: Debian 12). Its headers are not needed for a build, and those of Debian 12 contradict Foundation's copy of ICU. Names,
// values and types are those of libxml/xmlreader.h and libxml/parser.h, a stable C interface.

typedef int (*cxml_read)(void *context, char *buffer, int length);

struct cxml {
    void (*xmlInitParser)(void);
    void *(*xmlReaderForIO)(cxml_read read, int (*close)(void *), void *context, const char *url, const char *encoding, int options);
    void (*xmlFreeTextReader)(void *reader);
    int (*xmlTextReaderRead)(void *reader);
    int (*xmlTextReaderNodeType)(void *reader);
    int (*xmlTextReaderIsEmptyElement)(void *reader);
    const char *(*xmlTextReaderConstLocalName)(void *reader);
    const char *(*xmlTextReaderConstValue)(void *reader);
    int (*xmlTextReaderMoveToAttribute)(void *reader, const char *name);
    int (*xmlTextReaderMoveToElement)(void *reader);
    int (*xmlTextReaderGetParserLineNumber)(void *reader);
};

enum {
    CXML_ELEMENT = 1, CXML_TEXT = 3, CXML_CDATA = 4, CXML_ENTITY_REFERENCE = 5, CXML_DOCUMENT_TYPE = 10,
    CXML_SIGNIFICANT_WHITESPACE = 14, CXML_END_ELEMENT = 15
};

// No messages on standard error (NOERROR, NOWARNING), no network (NONET), and no encoding but the one that the caller names
// (IGNORE_ENC). Entities are not replaced and no DTD is loaded, because the options for that are left out. HUGE is left out too, so that
// libxml2 keeps its own limits.
enum { CXML_OPTIONS = 1 << 5 | 1 << 6 | 1 << 11 | 1 << 21 };

// Fills the table. Returns NULL, or the loader's message if anything is missing. The message is valid until this thread's next dl
// call.
static inline const char *cxml_open(struct cxml *table) {
    void *library = dlopen("libxml2.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) library = dlopen("libxml2.so.16", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return dlerror();
#define CXML_FIND(name) \
    if ((table->name = (__typeof__(table->name))dlsym(library, #name)) == NULL) return dlerror()
    CXML_FIND(xmlInitParser);
    CXML_FIND(xmlReaderForIO);
    CXML_FIND(xmlFreeTextReader);
    CXML_FIND(xmlTextReaderRead);
    CXML_FIND(xmlTextReaderNodeType);
    CXML_FIND(xmlTextReaderIsEmptyElement);
    CXML_FIND(xmlTextReaderConstLocalName);
    CXML_FIND(xmlTextReaderConstValue);
    CXML_FIND(xmlTextReaderMoveToAttribute);
    CXML_FIND(xmlTextReaderMoveToElement);
    CXML_FIND(xmlTextReaderGetParserLineNumber);
#undef CXML_FIND
    return NULL;
}
