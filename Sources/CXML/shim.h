#pragma once
// libxml2's headers include those of ICU, which contradict the ones in Foundation. Without ICU, only a structure for encodings has
// another layout, and it is not used. Remove this when every supported system has libxml2 2.13, whose headers leave ICU out.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>
#include <libxml/xmlreader.h>

// No network, no messages on standard error, and no encoding but the one that the caller names. Entities are not replaced and no DTD
// is loaded, because the options for that are left out. XML_PARSE_HUGE is left out too, so that libxml2 keeps its own limits. The
// constant exists because these are values of an enum, which Swift does not combine.
static const int CXML_OPTIONS = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_IGNORE_ENC;
