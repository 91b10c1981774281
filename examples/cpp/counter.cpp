// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0

// A C++ program: the headers are C++ too, and owners are a few lines of RAII.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include <troupe/troupe.h>

namespace
{

void must(troupe_err_t err)
{
    if (err != TROUPE_OK) {
        throw std::runtime_error(troupe_err_text(err));
    }
}

struct NodeDeleter {
    void operator()(troupe_node_t *node) const
    {
        troupe_node_destroy(&node);
    }
};
struct InboxDeleter {
    void operator()(troupe_inbox_t *inbox) const
    {
        troupe_inbox_close(&inbox);
    }
};
struct LetterDeleter {
    void operator()(troupe_letter_t *letter) const
    {
        troupe_letter_free(&letter);
    }
};
using Node = std::unique_ptr<troupe_node_t, NodeDeleter>;
using Inbox = std::unique_ptr<troupe_inbox_t, InboxDeleter>;
using Letter = std::unique_ptr<troupe_letter_t, LetterDeleter>;

// An actor's state may be any type that zero bytes are a value of; exceptions must not leave callbacks.
struct Counter {
    std::uint64_t sum;

    static troupe_err_t receive(troupe_actor_t *self, void *state, const troupe_message_t *message)
    {
        auto *counter = static_cast<Counter *>(state);
        if (message->size == sizeof(std::uint32_t)) {
            counter->sum += *static_cast<const std::uint32_t *>(message->body);
            return TROUPE_OK;
        }
        return troupe_reply(self, TROUPE_TYPE_BYTES, &counter->sum, sizeof(counter->sum));
    }
};

troupe_behavior_t counter_behavior()
{
    troupe_behavior_t behavior = troupe_behavior_t();
    behavior.size = sizeof(behavior);
    behavior.name = "counter";
    behavior.state_size = sizeof(Counter);
    behavior.receive = Counter::receive;
    return behavior;
}

void run()
{
    static const troupe_behavior_t behavior = counter_behavior();
    troupe_node_options_t options = TROUPE_NODE_OPTIONS_INIT;
    troupe_node_t *raw_node = nullptr;
    must(troupe_node_create(&options, &raw_node));
    Node node(raw_node);
    must(troupe_node_start(node.get()));

    troupe_ref_t counter = troupe_ref_none();
    must(troupe_node_spawn(node.get(), &behavior, nullptr, &counter));
    troupe_inbox_t *raw_inbox = nullptr;
    must(troupe_inbox_open(node.get(), nullptr, &raw_inbox));
    Inbox inbox(raw_inbox);

    for (std::uint32_t i = 1; i <= 1000; i++) {
        must(troupe_inbox_tell(inbox.get(), counter, TROUPE_TYPE_BYTES, &i, sizeof(i), 5000));
    }
    troupe_letter_t *raw_letter = nullptr;
    must(troupe_inbox_ask(inbox.get(), counter, TROUPE_TYPE_BYTES, "sum?", 5, 5000, &raw_letter));
    Letter letter(raw_letter);
    const troupe_message_t *message = troupe_letter_message(letter.get());
    std::printf("counted %llu\n", static_cast<unsigned long long>(
                                      *static_cast<const std::uint64_t *>(message->body)));

    letter.reset();
    inbox.reset();
    must(troupe_node_stop(node.get(), 5000));
}

} // namespace

int main()
{
    try {
        run();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
