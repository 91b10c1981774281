/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Stands in for libFuzzer in ordinary builds: tries every file of the corpus and a number of mutations
 * of them, the same each time (TROUPE_TEST_SEED changes them).
 *
 *     fuzz_x CORPUS_DIR|FILE... */

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/memory.h"
#include "base/random.h"

#define FUZZ_INPUT_SIZE_MAX 8192
#define FUZZ_SEEDS_MAX 1024
#define FUZZ_ROUNDS 20000
#define FUZZ_ROUNDS_FULL 1000000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct fuzz_input {
    uint8_t *data;
    size_t size;
} fuzz_input_t;

typedef struct fuzz_corpus {
    fuzz_input_t inputs[FUZZ_SEEDS_MAX];
    size_t len;
} fuzz_corpus_t;

/* A copy in a block of just its size, so that reading past the end is noticed. */
static void fuzz_try(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size > 0 ? size : 1);
    if (exact == NULL) {
        abort();
    }
    memcpy(exact, data, size);
    (void)LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static void fuzz_add_file(fuzz_corpus_t *corpus, const char *path)
{
    static uint8_t bytes[FUZZ_INPUT_SIZE_MAX];
    FILE *file = fopen(path, "rb");
    if (file == NULL || corpus->len == FUZZ_SEEDS_MAX) {
        (void)fprintf(stderr, "%s: not read\n", path);
        exit(2);
    }
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    (void)fclose(file);
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, bytes, size);
    corpus->inputs[corpus->len++] = (fuzz_input_t){copy, size};
}

static int fuzz_is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* In the order of names, for the run must be the same each time. */
static void fuzz_add_folder(fuzz_corpus_t *corpus, const char *path)
{
    struct dirent **names = NULL;
    int len = scandir(path, &names, fuzz_is_visible, alphasort);
    for (int i = 0; i < len; i++) {
        char full[4096];
        (void)snprintf(full, sizeof(full), "%s/%s", path, names[i]->d_name);
        fuzz_add_file(corpus, full);
        free(names[i]);
    }
    free(names);
}

static void fuzz_add(fuzz_corpus_t *corpus, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return; /* No corpus yet. */
    }
    if (S_ISDIR(status.st_mode)) {
        fuzz_add_folder(corpus, path);
        return;
    }
    fuzz_add_file(corpus, path);
}

/* Changes a number of bytes, cuts off, doubles or inserts. Returns the new size. */
static size_t fuzz_mutate(trp_random_t *random, uint8_t *data, size_t size)
{
    static const uint8_t telling[] = {0x00, 0x01, 0x7f, 0x80, 0xff, 0x25, 0x2f, 0x20};
    for (uint64_t changes = 1 + trp_random_below(random, 8); changes > 0; changes--) {
        size_t at = size > 0 ? (size_t)trp_random_below(random, size) : 0;
        switch (trp_random_below(random, 5)) {
        case 0:
            data[at] ^= (uint8_t)(1u << trp_random_below(random, 8));
            break;
        case 1:
            data[at] = telling[trp_random_below(random, sizeof(telling))];
            break;
        case 2:
            data[at] = (uint8_t)trp_random_next(random);
            break;
        case 3:
            size = at;
            break;
        default:
            if (size < FUZZ_INPUT_SIZE_MAX) {
                memmove(data + at + 1, data + at, size - at);
                data[at] = (uint8_t)trp_random_next(random);
                size++;
            }
            break;
        }
    }
    return size;
}

static void fuzz_random_round(trp_random_t *random, const fuzz_corpus_t *corpus)
{
    static uint8_t data[FUZZ_INPUT_SIZE_MAX + 1];
    size_t size = 0;
    if (corpus->len > 0) {
        const fuzz_input_t *seed = &corpus->inputs[trp_random_below(random, corpus->len)];
        size = seed->size;
        memcpy(data, seed->data, size);
    }
    size = fuzz_mutate(random, data, size);
    fuzz_try(data, size);
}

int main(int argc, char **argv)
{
    static fuzz_corpus_t corpus;
    for (int i = 1; i < argc; i++) {
        fuzz_add(&corpus, argv[i]);
    }
    for (size_t i = 0; i < corpus.len; i++) {
        fuzz_try(corpus.inputs[i].data, corpus.inputs[i].size);
    }
    const char *seed = getenv("TROUPE_TEST_SEED");
    const char *full = getenv("TROUPE_TEST_FULL");
    uint64_t rounds = full != NULL && full[0] != '\0' ? FUZZ_ROUNDS_FULL : FUZZ_ROUNDS;
    trp_random_t random;
    trp_random_seed(&random, seed != NULL ? strtoull(seed, NULL, 0) : 1);
    for (uint64_t i = 0; i < rounds; i++) {
        fuzz_random_round(&random, &corpus);
    }
    (void)printf("%zu inputs of the corpus, %" PRIu64 " mutations\n", corpus.len, rounds);
    for (size_t i = 0; i < corpus.len; i++) {
        free(corpus.inputs[i].data);
    }
    return 0;
}
