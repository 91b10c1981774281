/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Reads addresses of the form host:port. */

#include "node/address.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/assert.h"
#include "base/text.h"

static bool address_is_host_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
}

static bool address_is_name(const char *host)
{
    if (strcmp(host, "*") == 0) {
        return true;
    }
    for (const char *c = host; *c != '\0'; c++) {
        if (!address_is_host_byte(*c)) {
            return false;
        }
    }
    return host[0] != '\0';
}

static bool address_is_v6(const char *host)
{
    struct in6_addr v6;
    return inet_pton(AF_INET6, host, &v6) == 1;
}

/* Copies the host part to ret_host; false when it isn't one. */
static bool address_take_host(const char *text, size_t size, char *ret_host)
{
    bool is_bracketed = size >= 2 && text[0] == '[' && text[size - 1] == ']';
    if (is_bracketed) {
        text += 1;
        size -= 2;
    }
    if (size == 0 || size >= TRP_NODE_ADDRESS_HOST_SIZE) {
        return false;
    }
    memcpy(ret_host, text, size);
    ret_host[size] = '\0';
    return is_bracketed ? address_is_v6(ret_host) : address_is_name(ret_host);
}

troupe_err_t trp_node_address_parse(const char *text, trp_node_address_t *ret_address)
{
    TRP_ASSERT(text != NULL);
    TRP_ASSERT(ret_address != NULL);
    const char *colon = strrchr(text, ':');
    uint64_t port = 0;
    if (colon == NULL || trp_text_parse_u64(colon + 1, UINT16_MAX, &port) != TROUPE_OK) {
        return TROUPE_EINVAL;
    }
    trp_node_address_t address;
    memset(&address, 0, sizeof(address));
    if (!address_take_host(text, (size_t)(colon - text), address.host)) {
        return TROUPE_EINVAL;
    }
    address.port = (uint16_t)port;
    *ret_address = address;
    return TROUPE_OK;
}

bool trp_node_address_is_loopback(const trp_node_address_t *address)
{
    TRP_ASSERT(address != NULL);
    struct in_addr v4;
    if (inet_pton(AF_INET, address->host, &v4) == 1) {
        return (ntohl(v4.s_addr) >> 24) == 127;
    }
    struct in6_addr v6;
    if (inet_pton(AF_INET6, address->host, &v6) == 1) {
        return IN6_IS_ADDR_LOOPBACK(&v6);
    }
    return strcmp(address->host, "localhost") == 0;
}

bool trp_node_address_is_wildcard(const trp_node_address_t *address)
{
    TRP_ASSERT(address != NULL);
    struct in6_addr v6;
    if (inet_pton(AF_INET6, address->host, &v6) == 1) {
        return IN6_IS_ADDR_UNSPECIFIED(&v6);
    }
    return strcmp(address->host, "*") == 0 || strcmp(address->host, "0.0.0.0") == 0;
}
