/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Reads the values of options from text and says in plain words what is wrong with them. */

#include "node/option_value.h"

#include <inttypes.h>
#include <string.h>

#include "base/assert.h"
#include "base/attr.h"
#include "base/text.h"
#include "node/address.h"

#define OPTION_CHOICES_MAX 16
#define OPTION_SHOWN_SIZE 64 /* Bytes of a wrong value that an error repeats. */

/* One assignment on its way. */
typedef struct option_job {
    const trp_option_t *option;
    trp_store_t *store;
    void *field;
    char *problem;
} option_job_t;

static troupe_err_t option_fail(const option_job_t *job, const char *value, const char *advice)
{
    char shown[OPTION_SHOWN_SIZE];
    trp_text_escape(shown, sizeof(shown), value, strlen(value));
    trp_text_format(job->problem, TRP_OPTION_PROBLEM_SIZE, "\"%s\" %s", shown, advice);
    return TROUPE_ECONFIG;
}

/* ---- numbers ---------------------------------------------------------------------------------- */

static uint64_t option_unit(const char *unit)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } units[] = {
        {"", 1},           {"B", 1},          {"KiB", 1u << 10},
        {"MiB", 1u << 20}, {"GiB", 1u << 30}, {"TiB", UINT64_C(1) << 40},
        {"K", 1u << 10},   {"M", 1u << 20},   {"G", 1u << 30},
    };
    for (size_t i = 0; i < TRP_ARRAY_LEN(units); i++) {
        if (strcmp(units[i].name, unit) == 0) {
            return units[i].bytes;
        }
    }
    return 0;
}

troupe_err_t trp_option_parse_size(const char *text, uint64_t *ret_size)
{
    TRP_ASSERT(text != NULL);
    TRP_ASSERT(ret_size != NULL);
    char digits[24];
    size_t len = strspn(text, "0123456789");
    uint64_t number = 0;
    if (len >= sizeof(digits)) {
        return TROUPE_EINVAL;
    }
    memcpy(digits, text, len);
    digits[len] = '\0';
    uint64_t unit = option_unit(text + len + strspn(text + len, " "));
    if (unit == 0 || trp_text_parse_u64(digits, UINT64_MAX / unit, &number) != TROUPE_OK) {
        return TROUPE_EINVAL;
    }
    *ret_size = number * unit;
    return TROUPE_OK;
}

static troupe_err_t option_out_of_range(const option_job_t *job, const char *value)
{
    char advice[128];
    trp_text_format(advice, sizeof(advice),
                    "is out of range; give a number from %" PRIu64 " to %" PRIu64,
                    job->option->about.min, job->option->about.max);
    return option_fail(job, value, advice);
}

static troupe_err_t option_set_number(const option_job_t *job, const char *value)
{
    uint64_t number = 0;
    if (trp_text_parse_u64(value, UINT64_MAX, &number) != TROUPE_OK) {
        return option_fail(job, value, "is no whole number; give digits only");
    }
    if (number < job->option->about.min || number > job->option->about.max) {
        return option_out_of_range(job, value);
    }
    *(uint32_t *)job->field = (uint32_t)number;
    return TROUPE_OK;
}

static troupe_err_t option_set_size(const option_job_t *job, const char *value)
{
    uint64_t size = 0;
    if (trp_option_parse_size(value, &size) != TROUPE_OK) {
        return option_fail(job, value, "is no size; give bytes or a unit, such as 64MiB");
    }
    if (size < job->option->about.min || size > job->option->about.max) {
        return option_out_of_range(job, value);
    }
    *(uint64_t *)job->field = size;
    return TROUPE_OK;
}

static troupe_err_t option_set_bool(const option_job_t *job, const char *value)
{
    bool is_true = strcmp(value, "true") == 0 || strcmp(value, "yes") == 0 ||
                   strcmp(value, "on") == 0 || strcmp(value, "1") == 0;
    bool is_false = strcmp(value, "false") == 0 || strcmp(value, "no") == 0 ||
                    strcmp(value, "off") == 0 || strcmp(value, "0") == 0;
    if (!is_true && !is_false) {
        return option_fail(job, value, "is neither true nor false");
    }
    *(bool *)job->field = is_true;
    return TROUPE_OK;
}

/* ---- choices ---------------------------------------------------------------------------------- */

void trp_option_choice(const trp_option_t *option, uint32_t number,
                       char ret_text[TRP_OPTION_KEY_SIZE_MAX])
{
    TRP_ASSERT(option->kind == TRP_OPTION_ENUM);
    const char *from = option->about.choices;
    for (uint32_t i = 1; i < number && from != NULL; i++) {
        from = strchr(from, '|');
        from = from != NULL ? from + 1 : NULL;
    }
    size_t size = number > 0 && from != NULL ? strcspn(from, "|") : 0;
    TRP_ASSERT(size < TRP_OPTION_KEY_SIZE_MAX);
    memcpy(ret_text, size > 0 ? from : "", size);
    ret_text[size] = '\0';
}

static troupe_err_t option_set_choice(const option_job_t *job, const char *value)
{
    char texts[OPTION_CHOICES_MAX][TRP_OPTION_KEY_SIZE_MAX];
    const char *choices[OPTION_CHOICES_MAX];
    size_t len = 0;
    for (; len < OPTION_CHOICES_MAX; len++) {
        trp_option_choice(job->option, (uint32_t)len + 1, texts[len]);
        choices[len] = texts[len];
        if (texts[len][0] == '\0') {
            break;
        }
        if (strcmp(value, texts[len]) == 0) {
            *(uint32_t *)job->field = (uint32_t)len + 1;
            return TROUPE_OK;
        }
    }
    char advice[160];
    const char *near = trp_text_suggest(value, choices, len);
    trp_text_format(advice, sizeof(advice), "is none of %s%s%s%s", job->option->about.choices,
                    near != NULL ? "; did you mean " : "", near != NULL ? near : "",
                    near != NULL ? "?" : "");
    return option_fail(job, value, advice);
}

/* ---- texts ------------------------------------------------------------------------------------ */

static troupe_err_t option_check_address(const option_job_t *job, const char *value)
{
    trp_node_address_t address;
    if (trp_node_address_parse(value, &address) != TROUPE_OK) {
        return option_fail(job, value, "is no address; give host:port, such as 127.0.0.1:7001");
    }
    return TROUPE_OK;
}

static troupe_err_t option_set_text(const option_job_t *job, const char *value)
{
    if (job->option->kind == TRP_OPTION_ADDRESS && value[0] != '\0') {
        troupe_err_t err = option_check_address(job, value);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    char *kept = trp_store_keep(job->store, value, strlen(value));
    if (kept == NULL) {
        return TROUPE_ENOMEM;
    }
    /* "" is as if it were not set: the field is NULL then, as in options made by hand. */
    *(const char **)job->field = kept[0] != '\0' ? kept : NULL;
    return TROUPE_OK;
}

/* ---- lists ------------------------------------------------------------------------------------ */

static troupe_err_t option_check_element(const option_job_t *job, const char *value)
{
    if (value[0] == '\0') {
        return option_fail(job, value, "is an empty element; take it out");
    }
    if (job->option->kind == TRP_OPTION_ADDRESSES) {
        return option_check_address(job, value);
    }
    const char *equals = strchr(value, '=');
    bool is_pair = equals != NULL && equals != value && equals[1] != '\0';
    if (job->option->kind == TRP_OPTION_MAP && !is_pair) {
        return option_fail(job, value, "has no value; give name=value");
    }
    return TROUPE_OK;
}

static troupe_err_t option_set_list(const option_job_t *job, const char *const *items, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        troupe_err_t err = option_check_element(job, items[i]);
        if (err != TROUPE_OK) {
            return err;
        }
    }
    const char **kept = NULL;
    if (len > 0) {
        kept = trp_store_take(job->store, len, sizeof(*kept));
        if (kept == NULL) {
            return TROUPE_ENOMEM;
        }
    }
    for (size_t i = 0; i < len; i++) {
        kept[i] = trp_store_keep(job->store, items[i], strlen(items[i]));
        if (kept[i] == NULL) {
            return TROUPE_ENOMEM;
        }
    }
    troupe_string_list_t list = {kept, len};
    *(troupe_string_list_t *)job->field = list;
    return TROUPE_OK;
}

/* ---- all kinds -------------------------------------------------------------------------------- */

static troupe_err_t option_set_scalar(const option_job_t *job, const char *value)
{
    switch (job->option->kind) {
    case TRP_OPTION_BOOL:
        return option_set_bool(job, value);
    case TRP_OPTION_U32:
        return option_set_number(job, value);
    case TRP_OPTION_SIZE:
        return option_set_size(job, value);
    case TRP_OPTION_ENUM:
        return option_set_choice(job, value);
    case TRP_OPTION_TEXT:
    case TRP_OPTION_SECRET:
    case TRP_OPTION_PATH:
    case TRP_OPTION_ADDRESS:
    case TRP_OPTION_LIST:
    case TRP_OPTION_ADDRESSES:
    case TRP_OPTION_MAP:
        break;
    }
    return option_set_text(job, value);
}

troupe_err_t trp_option_assign(const trp_option_t *option, trp_option_values_t *values,
                               trp_store_t *store, const char *const *items, size_t len,
                               char ret_problem[TRP_OPTION_PROBLEM_SIZE])
{
    TRP_ASSERT(option != NULL);
    TRP_ASSERT(trp_option_is_list(option) || len == 1);
    option_job_t job = {option, store, (char *)values + option->offset, ret_problem};
    ret_problem[0] = '\0';
    return trp_option_is_list(option) ? option_set_list(&job, items, len)
                                      : option_set_scalar(&job, items[0]);
}

static bool option_is_unset(const trp_option_t *option, const trp_option_values_t *values)
{
    const void *field = (const char *)values + option->offset;
    switch (option->kind) {
    case TRP_OPTION_U32:
    case TRP_OPTION_ENUM:
        return *(const uint32_t *)field == 0;
    case TRP_OPTION_SIZE:
        return *(const uint64_t *)field == 0;
    case TRP_OPTION_BOOL:
    case TRP_OPTION_LIST:
    case TRP_OPTION_ADDRESSES:
    case TRP_OPTION_MAP:
        return false;
    case TRP_OPTION_TEXT:
    case TRP_OPTION_SECRET:
    case TRP_OPTION_PATH:
    case TRP_OPTION_ADDRESS:
        break;
    }
    return *(const char *const *)field == NULL;
}

/* Numbers go through their text, so that the same rules hold as in a file. */
static troupe_err_t option_adopt_scalar(const trp_option_t *option, const trp_option_values_t *from,
                                        trp_option_values_t *to, trp_store_t *store,
                                        char *ret_problem)
{
    char shown[TRP_OPTION_KEY_SIZE_MAX];
    const char *text = shown;
    if (option->kind <= TRP_OPTION_ADDRESS) {
        text = *(const char *const *)(const void *)((const char *)from + option->offset);
    } else if (trp_option_show(option, from, shown, sizeof(shown)) != TROUPE_OK || !shown[0]) {
        trp_text_copy(ret_problem, TRP_OPTION_PROBLEM_SIZE, "is out of range");
        return TROUPE_ECONFIG;
    }
    return trp_option_assign(option, to, store, &text, 1, ret_problem);
}

troupe_err_t trp_option_adopt(const trp_option_t *option, const trp_option_values_t *from,
                              trp_option_values_t *to, trp_store_t *store,
                              char ret_problem[TRP_OPTION_PROBLEM_SIZE])
{
    TRP_ASSERT(option != NULL);
    TRP_ASSERT(from != to);
    const void *field = (const char *)from + option->offset;
    if (trp_option_is_list(option)) {
        const troupe_string_list_t *list = field;
        return trp_option_assign(option, to, store, list->items, list->len, ret_problem);
    }
    if (!option_is_unset(option, from)) {
        return option_adopt_scalar(option, from, to, store, ret_problem);
    }
    const char *fallback = option->about.default_text;
    if (fallback[0] == '\0') {
        return TROUPE_OK;
    }
    return trp_option_assign(option, to, store, &fallback, 1, ret_problem);
}
