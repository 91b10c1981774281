/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Reads a configuration from YAML, event by event, so that every error has its line and nothing is
 * built that the file's author could make large: no aliases, no anchors, bounded size and depth.
 *
 * Sections nest only as far as the table's keys have dots, so the recursion over them is bounded by
 * the table; what isn't in the table is skipped with a counter. */

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <libfyaml.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/text.h"
#include "node/config_private.h"
#include "node/file.h"

#define CONFIG_SYNTAX_SIZE 160

typedef struct config_reader {
    troupe_config_t *config;
    struct fy_parser *parser;
    struct fy_event *event; /* The one being looked at; NULL at the end and after an error. */
    trp_config_place_t place;
    troupe_err_t fault;              /* Ends the reading: nested too deep. */
    char syntax[CONFIG_SYNTAX_SIZE]; /* The parser's first error. */
} config_reader_t;

/* ---- events ----------------------------------------------------------------------------------- */

static enum fy_event_type config_event(const config_reader_t *reader)
{
    return reader->event != NULL ? reader->event->type : FYET_NONE;
}

static void config_next(config_reader_t *reader)
{
    if (reader->event != NULL) {
        fy_parser_event_free(reader->parser, reader->event);
        reader->event = NULL;
    }
    if (reader->fault != TROUPE_OK) {
        return;
    }
    reader->event = fy_parser_parse(reader->parser);
    if (reader->event == NULL) {
        return;
    }
    const struct fy_mark *mark = fy_event_start_mark(reader->event);
    if (mark != NULL && mark->line >= 0) {
        reader->place.line = (uint32_t)mark->line + 1;
    }
}

/* Copies the scalar at hand; false, with a complaint, when it is too long or has a zero byte in it. */
static bool config_scalar(config_reader_t *reader, const char *key,
                          char ret_text[TROUPE_CONFIG_TEXT_SIZE_MAX + 1])
{
    TRP_ASSERT(config_event(reader) == FYET_SCALAR);
    size_t size = 0;
    const char *text = fy_token_get_text(reader->event->scalar.value, &size);
    if (text == NULL) {
        size = 0;
    }
    if (size > TROUPE_CONFIG_TEXT_SIZE_MAX || (size > 0 && memchr(text, '\0', size) != NULL)) {
        (void)trp_config_complain(reader->config, &reader->place,
                                  "%s: longer than %u bytes, or with a zero byte in it", key,
                                  TROUPE_CONFIG_TEXT_SIZE_MAX);
        return false;
    }
    memcpy(ret_text, size > 0 ? text : "", size);
    ret_text[size] = '\0';
    return true;
}

/* Goes past the value at hand, whatever it is. */
static void config_skip(config_reader_t *reader)
{
    size_t depth = 0;
    do {
        enum fy_event_type type = config_event(reader);
        if (type == FYET_NONE) {
            return;
        }
        depth += type == FYET_MAPPING_START || type == FYET_SEQUENCE_START;
        depth -= type == FYET_MAPPING_END || type == FYET_SEQUENCE_END;
        if (depth > TROUPE_CONFIG_DEPTH_MAX) {
            reader->fault =
                trp_config_complain(reader->config, &reader->place, "nested deeper than %u levels",
                                    TROUPE_CONFIG_DEPTH_MAX);
        }
        config_next(reader);
    } while (depth > 0);
}

/* ---- values ----------------------------------------------------------------------------------- */

/* The elements of a list while they are read. */
typedef struct config_elements {
    trp_store_t store; /* The texts, for as long as the list is read. */
    const char **items;
    size_t len;
} config_elements_t;

static troupe_err_t config_add_element(config_reader_t *reader, const trp_option_t *option,
                                       config_elements_t *elements, const char *text)
{
    if (elements->len == TROUPE_CONFIG_LIST_LEN_MAX) {
        return trp_config_complain(reader->config, &reader->place, "%s: more than %u elements",
                                   option->about.key, TROUPE_CONFIG_LIST_LEN_MAX);
    }
    const char *kept = trp_store_keep(&elements->store, text, strlen(text));
    if (kept == NULL) {
        return TROUPE_ENOMEM;
    }
    elements->items[elements->len] = kept;
    elements->len += 1;
    return TROUPE_OK;
}

/* One element of a sequence, or "name=value" of a mapping. */
static troupe_err_t config_read_element(config_reader_t *reader, const trp_option_t *option,
                                        config_elements_t *elements)
{
    char text[2 * TROUPE_CONFIG_TEXT_SIZE_MAX + 2];
    size_t used = 0;
    size_t parts = option->kind == TRP_OPTION_MAP ? 2 : 1;
    for (size_t i = 0; i < parts; i++) {
        if (config_event(reader) != FYET_SCALAR) {
            config_skip(reader);
            return trp_config_complain(reader->config, &reader->place,
                                       "%s: its elements must be plain values", option->about.key);
        }
        if (!config_scalar(reader, option->about.key, text + used)) {
            return TROUPE_ECONFIG;
        }
        used += strlen(text + used);
        text[used] = i + 1 < parts ? '=' : '\0';
        used += 1;
        config_next(reader);
    }
    return config_add_element(reader, option, elements, text);
}

static troupe_err_t config_read_elements(config_reader_t *reader, const trp_option_t *option,
                                         config_elements_t *elements)
{
    enum fy_event_type end =
        config_event(reader) == FYET_MAPPING_START ? FYET_MAPPING_END : FYET_SEQUENCE_END;
    troupe_err_t err = TROUPE_OK;
    config_next(reader);
    while (config_event(reader) != end && config_event(reader) != FYET_NONE) {
        if (err != TROUPE_OK) {
            config_skip(reader); /* To the end: the rest of the file is to be looked at too. */
            continue;
        }
        err = config_read_element(reader, option, elements);
    }
    config_next(reader);
    return err;
}

static troupe_err_t config_read_list(config_reader_t *reader, const trp_option_t *option)
{
    trp_config_place_t place = reader->place;
    config_elements_t elements;
    trp_store_init(&elements.store);
    elements.len = 0;
    elements.items =
        trp_store_take(&elements.store, TROUPE_CONFIG_LIST_LEN_MAX, sizeof(*elements.items));
    troupe_err_t err = TROUPE_ENOMEM;
    if (elements.items != NULL) {
        err = config_read_elements(reader, option, &elements);
    }
    if (err == TROUPE_OK && reader->fault == TROUPE_OK) {
        err = trp_config_assign(reader->config, &place, option, elements.items, elements.len);
    }
    trp_store_fini(&elements.store);
    return err;
}

static troupe_err_t config_read_scalar(config_reader_t *reader, const trp_option_t *option)
{
    char text[TROUPE_CONFIG_TEXT_SIZE_MAX + 1];
    trp_config_place_t place = reader->place;
    bool is_good = config_scalar(reader, option->about.key, text);
    config_next(reader);
    if (!is_good) {
        return TROUPE_ECONFIG;
    }
    if (text[0] == '\0') {
        return trp_config_complain(reader->config, &place,
                                   "%s: has no value; leave the key out to have the default",
                                   option->about.key);
    }
    return trp_config_assign_text(reader->config, &place, option, text);
}

/* What a value of this kind looks like in a file, for people. */
static const char *config_shape(const trp_option_t *option)
{
    if (option->kind == TRP_OPTION_MAP) {
        return "a mapping, such as {name: value}";
    }
    return trp_option_is_list(option) ? "a list, such as [a, b]" : "one plain value";
}

static troupe_err_t config_read_value(config_reader_t *reader, const trp_option_t *option)
{
    enum fy_event_type type = config_event(reader);
    bool is_map = option->kind == TRP_OPTION_MAP;
    if (type == FYET_SCALAR) {
        return config_read_scalar(reader, option);
    }
    if (type == FYET_SEQUENCE_START && trp_option_is_list(option) && !is_map) {
        return config_read_list(reader, option);
    }
    if (type == FYET_MAPPING_START && is_map) {
        return config_read_list(reader, option);
    }
    trp_config_place_t place = reader->place;
    config_skip(reader);
    return trp_config_complain(reader->config, &place, "%s: must be %s", option->about.key,
                               config_shape(option));
}

static troupe_err_t config_read_option(config_reader_t *reader, const trp_option_t *option,
                                       const trp_config_place_t *key_place)
{
    trp_config_mark_t *mark = &reader->config->marks[trp_option_index(option)];
    if (mark->reading == reader->config->reading) {
        config_skip(reader);
        return trp_config_complain(reader->config, key_place, "%s: is given twice in this file",
                                   option->about.key);
    }
    mark->reading = reader->config->reading;
    return config_read_value(reader, option);
}

/* ---- sections --------------------------------------------------------------------------------- */

static troupe_err_t config_read_mapping(config_reader_t *reader, const char *section);

/* A section: its keys follow. */
static troupe_err_t config_read_section(config_reader_t *reader, const char *key)
{
    if (config_event(reader) == FYET_MAPPING_START) {
        return config_read_mapping(reader, key);
    }
    size_t size = 0;
    bool is_empty = config_event(reader) == FYET_SCALAR &&
                    (fy_token_get_text(reader->event->scalar.value, &size) == NULL || size == 0);
    trp_config_place_t place = reader->place;
    config_skip(reader);
    if (is_empty) {
        return TROUPE_OK; /* All its keys are commented out. */
    }
    return trp_config_complain(reader->config, &place,
                               "%s: is a section; write its keys below it, indented", key);
}

/* The key at hand with its section before it; false, with a complaint, when it is no key. */
static bool config_read_key(config_reader_t *reader, const char *section,
                            char ret_key[TRP_OPTION_KEY_SIZE_MAX * 2])
{
    char text[TROUPE_CONFIG_TEXT_SIZE_MAX + 1];
    if (config_event(reader) != FYET_SCALAR) {
        (void)trp_config_complain(reader->config, &reader->place, "%s: a key must be a plain word",
                                  section[0] != '\0' ? section : "top level");
        config_skip(reader);
        return false;
    }
    bool is_good = config_scalar(reader, "key", text);
    config_next(reader);
    if (is_good) {
        trp_text_format(ret_key, TRP_OPTION_KEY_SIZE_MAX * 2, "%s%s%s", section,
                        section[0] != '\0' ? "." : "", text);
    }
    return is_good;
}

static troupe_err_t config_read_entry(config_reader_t *reader, const char *section)
{
    char key[TRP_OPTION_KEY_SIZE_MAX * 2];
    trp_config_place_t place = reader->place;
    if (!config_read_key(reader, section, key)) {
        config_skip(reader);
        return TROUPE_ECONFIG;
    }
    const trp_option_t *option = trp_option_find(key);
    if (option != NULL) {
        return config_read_option(reader, option, &place);
    }
    if (trp_option_is_section(key)) {
        return config_read_section(reader, key);
    }
    config_skip(reader);
    return trp_config_complain_key(reader->config, &place, key);
}

static troupe_err_t config_read_mapping(config_reader_t *reader, const char *section)
{
    TRP_ASSERT(config_event(reader) == FYET_MAPPING_START);
    config_next(reader);
    while (config_event(reader) != FYET_MAPPING_END && config_event(reader) != FYET_NONE) {
        troupe_err_t err = config_read_entry(reader, section);
        if (err != TROUPE_OK && err != TROUPE_ECONFIG) {
            return err;
        }
    }
    config_next(reader);
    return TROUPE_OK;
}

/* ---- documents -------------------------------------------------------------------------------- */

/* The root: a mapping, or nothing at all. */
static troupe_err_t config_read_root(config_reader_t *reader)
{
    if (config_event(reader) == FYET_MAPPING_START) {
        return config_read_mapping(reader, "");
    }
    size_t size = 0;
    if (config_event(reader) == FYET_SCALAR &&
        (fy_token_get_text(reader->event->scalar.value, &size) == NULL || size == 0)) {
        config_next(reader);
        return TROUPE_OK;
    }
    trp_config_place_t place = reader->place;
    config_skip(reader);
    return trp_config_complain(reader->config, &place,
                               "a configuration is a mapping of sections, such as cluster:");
}

static troupe_err_t config_read_document(config_reader_t *reader)
{
    if (config_event(reader) == FYET_STREAM_START) {
        config_next(reader);
    }
    if (config_event(reader) != FYET_DOCUMENT_START) {
        return TROUPE_OK; /* An empty file, or one that isn't well-formed. */
    }
    config_next(reader);
    troupe_err_t err = config_read_root(reader);
    if (config_event(reader) == FYET_DOCUMENT_END) {
        config_next(reader);
    }
    if (err == TROUPE_OK && config_event(reader) == FYET_DOCUMENT_START) {
        return trp_config_complain(reader->config, &reader->place,
                                   "only one document a file is read; take out the ---");
    }
    return err;
}

/* What the parser found not well-formed. */
static troupe_err_t config_complain_syntax(config_reader_t *reader)
{
    char shown[CONFIG_SYNTAX_SIZE];
    const char *message = reader->syntax[0] != '\0' ? reader->syntax : "unreadable";
    trp_text_escape(shown, sizeof(shown), message, strlen(message));
    return trp_config_complain(reader->config, &reader->place, "is not well-formed YAML: %s",
                               shown);
}

/* The parser tells its errors as text: "<source>:line:column: error: message", and the line at fault
 * after it. Collecting them as structs would be simpler, but leaks them (libfyaml 0.7.12). */
static void config_take_diagnostic(struct fy_diag *diag, void *user, const char *text, size_t size)
{
    static const char mark[] = ": error: ";
    config_reader_t *reader = user;
    (void)diag;
    const char *found = memmem(text, size, mark, sizeof(mark) - 1);
    if (found == NULL || reader->syntax[0] != '\0') {
        return;
    }
    size_t message_size = size - (size_t)(found - text) - (sizeof(mark) - 1);
    message_size =
        message_size < sizeof(reader->syntax) ? message_size : sizeof(reader->syntax) - 1;
    memcpy(reader->syntax, found + sizeof(mark) - 1, message_size);
    reader->syntax[message_size] = '\0';
    reader->syntax[strcspn(reader->syntax, "\n")] = '\0';
    const char *source_end = memrchr(text, '>', (size_t)(found - text));
    unsigned long line = 0;
    if (source_end != NULL && source_end[1] == ':') {
        line = strtoul(source_end + 2, NULL, 10); /* Ends at the next colon, before `found`. */
    }
    if (line > 0 && line <= UINT32_MAX) {
        reader->place.line = (uint32_t)line;
    }
}

static troupe_err_t config_parse(config_reader_t *reader, struct fy_diag *diag, const char *text,
                                 size_t size)
{
    struct fy_parse_cfg cfg = {NULL, FYPCF_JSON_NONE, NULL, diag};
    reader->parser = fy_parser_create(&cfg);
    if (reader->parser == NULL) {
        return TROUPE_ENOMEM;
    }
    troupe_err_t err = TROUPE_ENOMEM;
    if (fy_parser_set_string(reader->parser, text, size) == 0) {
        config_next(reader);
        err = config_read_document(reader);
        if (reader->event == NULL && fy_parser_get_stream_error(reader->parser)) {
            err = config_complain_syntax(reader);
        }
    }
    if (reader->event != NULL) {
        fy_parser_event_free(reader->parser, reader->event);
    }
    fy_parser_destroy(reader->parser);
    return err;
}

/* Refuses what is no text: the parser would end at it without a word. */
static troupe_err_t config_check_text(config_reader_t *reader, const char *text, size_t size)
{
    if (size > TROUPE_CONFIG_FILE_SIZE_MAX) {
        reader->place.line = 0;
        return trp_config_complain(reader->config, &reader->place, "larger than %u bytes",
                                   TROUPE_CONFIG_FILE_SIZE_MAX);
    }
    const char *line = text;
    for (reader->place.line = 1; line < text + size; reader->place.line++) {
        size_t left = size - (size_t)(line - text);
        const char *end = memchr(line, '\n', left);
        size_t line_size = end != NULL ? (size_t)(end - line) : left;
        bool is_text = trp_text_is_utf8(line, line_size);
        for (size_t i = 0; is_text && i < line_size; i++) {
            unsigned char c = (unsigned char)line[i];
            is_text = c >= ' ' ? c != 127 : c == '\t' || c == '\r';
        }
        if (!is_text) {
            return trp_config_complain(reader->config, &reader->place,
                                       "has bytes that are no UTF-8 text");
        }
        line += line_size + 1;
    }
    reader->place.line = 1;
    return TROUPE_OK;
}

troupe_err_t troupe_config_load_text(troupe_config_t *config, const char *origin, const char *text,
                                     size_t size)
{
    if (config == NULL || origin == NULL || (text == NULL && size > 0)) {
        return TROUPE_EINVAL;
    }
    trp_config_begin(config);
    config->reading += 1;
    config_reader_t reader = {.config = config, .place = {TROUPE_CONFIG_FILE, origin, 1}};
    troupe_err_t err = config_check_text(&reader, text, size);
    if (err != TROUPE_OK || size == 0) {
        return err;
    }
    struct fy_diag_cfg diag_cfg = {.output_fn = config_take_diagnostic,
                                   .user = &reader,
                                   .level = FYET_ERROR,
                                   .module_mask = UINT_MAX};
    struct fy_diag *diag = fy_diag_create(&diag_cfg);
    if (diag == NULL) {
        return TROUPE_ENOMEM;
    }
    err = config_parse(&reader, diag, text, size);
    fy_diag_unref(diag);
    return err != TROUPE_OK && err != TROUPE_ECONFIG ? err : trp_config_verdict(config);
}

/* ---- files ------------------------------------------------------------------------------------ */

troupe_err_t troupe_config_load_file(troupe_config_t *config, const char *path)
{
    if (config == NULL || path == NULL) {
        return TROUPE_EINVAL;
    }
    char *text = NULL;
    size_t size = 0;
    troupe_err_t err = trp_file_read(path, TROUPE_CONFIG_FILE_SIZE_MAX + 1, &text, &size);
    if (err == TROUPE_ESYSTEM) {
        trp_config_place_t place = {TROUPE_CONFIG_FILE, path, 0};
        trp_config_begin(config);
        return trp_config_complain(config, &place, "can't be read: %s", trp_text_of_errno(errno));
    }
    if (err == TROUPE_OK) {
        err = troupe_config_load_text(config, path, text, size);
    }
    trp_free(text);
    return err;
}
