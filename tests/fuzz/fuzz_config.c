/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Fuzzes the loader of configuration files and what looks at the result. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/config.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    troupe_config_t *config = NULL;
    if (troupe_config_create(&config) != TROUPE_OK) {
        return 0;
    }
    troupe_err_t err = troupe_config_load_text(config, "fuzz.yaml", (const char *)data, size);
    /* An error is told, and nothing else is. */
    if ((err == TROUPE_ECONFIG) != (troupe_config_errors(config)[0] != '\0')) {
        abort();
    }
    for (size_t i = 0; troupe_config_option(i) != NULL; i++) {
        char text[512];
        (void)!troupe_config_get(config, troupe_config_option(i)->key, text, sizeof(text), NULL);
    }
    /* Files that the input names are left alone: their keys are taken out first. */
    troupe_err_t set =
        troupe_config_set(config, TROUPE_CONFIG_FLAG, "security.secret_key_file", "");
    if (set == TROUPE_OK) {
        set = troupe_config_set(config, TROUPE_CONFIG_FLAG, "security.allowed_keys_file", "");
    }
    if (set == TROUPE_OK) {
        (void)!troupe_config_check(config);
    }
    troupe_config_destroy(&config);
    return 0;
}
