/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The program `troupe-bench`. */

#include "bench_main.h"

int main(int argc, char **argv)
{
    return troupe_bench_main(argc, argv);
}
