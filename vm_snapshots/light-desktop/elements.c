/* elements MOST MILLISECONDS: prints what the programs on the screen say of themselves on the accessibility bus.
 *
 * First line: "elements whole", or "elements cut" when the number MOST or the time was used up. Then a line for each
 * element that shows, parents first: its number, its parent's (-1: a window), role, x, y, width, height in pixels of the
 * screen, states as a hexadecimal set of bits, name; split by tabs. Nameless boxes that nobody can act on are passed over.
 * It speaks the message protocol itself, so that it is static like `windows`, and asks hundreds of questions at once: a
 * binding asks one after the other, which under emulation takes many seconds for one window.
 * Protocol: https://dbus.freedesktop.org/doc/dbus-specification.html; interfaces and numbers of states: AT-SPI 2,
 * https://gitlab.gnome.org/GNOME/at-spi2-core (xml/Accessible.xml, atspi/atspi-constants.h).
 */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { AT_ONCE = 128, MOST_CHILDREN = 400, MOST_DEPTH = 60, MOST_MESSAGE = 1 << 22, NAME_BYTES = 200 };
enum question { STATES, ROLE, NAME, BOX, COUNT, CHILDREN };

static const uint64_t SHOWING = 1ull << 25;
/* armed, expanded, focused, pressed, selected: what an open menu is, by one toolkit or another */
static const uint64_t OPEN = 1ull << 2 | 1ull << 10 | 1ull << 12 | 1ull << 20 | 1ull << 23;
/* checked, editable, expandable, focusable, focused, pressed, selectable, selected, checkable */
static const uint64_t USABLE = 1ull << 4 | 1ull << 7 | 1ull << 9 | 1ull << 11 | 1ull << 12 | 1ull << 20 | 1ull << 22 |
                               1ull << 23 | 1ull << 41;

struct node {
    char *bus, *path, *role, *name;
    int parent, depth, count;
    int32_t box[4];
    uint64_t states;
};

static struct node *nodes;
static int known, room, most;
static int bus_socket;
static int64_t deadline;
static uint32_t serial;
static int cut; /* something was left out */

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000ll + time.tv_nsec / 1000000;
}

static int add(const char *bus, const char *path, int parent, int depth) {
    if (known == room) {
        room = room ? 2 * room : 256;
        nodes = realloc(nodes, room * sizeof *nodes);
    }
    nodes[known] = (struct node){.bus = strdup(bus), .path = strdup(path), .parent = parent, .depth = depth};
    return known++;
}

/* ---- writing: a message is put together in `out` and sent with others */

static uint8_t out[1 << 17];
static size_t filled, begun; /* bytes in `out`; where the current message begins, which alignment counts from */

static void align(size_t to) {
    while ((filled - begun) % to)
        out[filled++] = 0;
}
static void put_byte(uint8_t value) { out[filled++] = value; }
static void put_number(uint32_t value) {
    align(4);
    memcpy(out + filled, &value, 4);
    filled += 4;
}
static void put_text(const char *text) {
    put_number(strlen(text));
    strcpy((char *)out + filled, text);
    filled += strlen(text) + 1;
}
static void put_signature(const char *text) {
    put_byte(strlen(text));
    strcpy((char *)out + filled, text);
    filled += strlen(text) + 1;
}
static void put_field(uint8_t code, const char *type, const char *value) {
    align(8);
    put_byte(code);
    put_signature(type);
    if (*type == 'g')
        put_signature(value);
    else
        put_text(value);
}

static int flush(void) {
    size_t sent = 0;
    while (sent < filled) {
        ssize_t done = write(bus_socket, out + sent, filled - sent);
        if (done <= 0)
            return 0;
        sent += done;
    }
    filled = 0;
    return 1;
}

/* Adds a method call; `first` and `second` are its text arguments, or NULL; `number` its only argument when types is "u". */
static void call(const char *bus, const char *path, const char *interface, const char *member, const char *types,
                 const char *first, const char *second, uint32_t number) {
    begun = filled;
    put_byte('l');
    put_byte(1); /* method call */
    put_byte(0);
    put_byte(1); /* protocol version */
    size_t length_at = filled;
    put_number(0);
    put_number(++serial);
    size_t fields_at = filled;
    put_number(0);
    put_field(1, "o", path);
    put_field(6, "s", bus);
    put_field(2, "s", interface);
    put_field(3, "s", member);
    if (*types)
        put_field(8, "g", types);
    uint32_t length = filled - fields_at - 4;
    memcpy(out + fields_at, &length, 4);
    align(8);
    size_t body = filled;
    if (first) {
        put_text(first);
        put_text(second);
    } else if (*types)
        put_number(number);
    length = filled - body;
    memcpy(out + length_at, &length, 4);
}

/* ---- reading */

struct reply {
    int type;
    uint32_t answers; /* serial of the call */
    const uint8_t *body;
    size_t length;
};

static uint8_t *in;
static size_t got, taken;

static uint32_t number_at(const uint8_t *place) {
    uint32_t value;
    memcpy(&value, place, 4);
    return value;
}

/* At least `wanted` bytes from `taken` on; 0 when the time is used up or the bus is gone. */
static int fill(size_t wanted) {
    if (taken && taken == got)
        got = taken = 0;
    while (got - taken < wanted) {
        if (taken + wanted > MOST_MESSAGE) {
            memmove(in, in + taken, got - taken);
            got -= taken;
            taken = 0;
        }
        struct pollfd ready = {bus_socket, POLLIN, 0};
        int64_t left = deadline - now();
        if (left <= 0 || wanted > MOST_MESSAGE || poll(&ready, 1, left) <= 0)
            return 0;
        ssize_t more = read(bus_socket, in + got, MOST_MESSAGE - got);
        if (more <= 0)
            return 0;
        got += more;
    }
    return 1;
}

static int receive(struct reply *reply) {
    if (!fill(16))
        return 0;
    const uint8_t *head = in + taken;
    size_t fields = number_at(head + 12), start = (16 + fields + 7) & ~7ull, length = number_at(head + 4);
    if (head[0] != 'l' || fields > MOST_MESSAGE / 2 || length > MOST_MESSAGE / 2 || !fill(start + length))
        return 0;
    head = in + taken;
    *reply = (struct reply){head[1], 0, head + start, length};
    for (size_t at = 16; at < 16 + fields;) { /* fields: code, signature, value */
        at = (at + 7) & ~7ull;
        int code = head[at], type = head[at + 2];
        at += 4; /* code, length 1, letter, zero */
        if (type == 'g')
            at += head[at] + 2;
        else {
            at = (at + 3) & ~3ull;
            if (code == 5)
                reply->answers = number_at(head + at);
            at += 4 + (type == 'u' ? 0 : number_at(head + at) + 1);
        }
    }
    taken += start + length;
    return 1;
}

/* The text at *at, which moves behind it; NULL when the body ends before. */
static const char *text_at(const struct reply *reply, size_t *at) {
    *at = (*at + 3) & ~3ull;
    if (*at + 4 > reply->length)
        return NULL;
    size_t length = number_at(reply->body + *at), begin = *at + 4;
    if (length >= reply->length || begin + length + 1 > reply->length)
        return NULL;
    *at = begin + length + 1;
    return (const char *)reply->body + begin;
}

/* ---- the tree */

static void ask(const struct node *node, enum question question) {
    static const char accessible[] = "org.a11y.atspi.Accessible", properties[] = "org.freedesktop.DBus.Properties";
    switch (question) {
    case STATES:
        call(node->bus, node->path, accessible, "GetState", "", NULL, NULL, 0);
        break;
    case ROLE:
        call(node->bus, node->path, accessible, "GetRoleName", "", NULL, NULL, 0);
        break;
    case NAME:
        call(node->bus, node->path, properties, "Get", "ss", accessible, "Name", 0);
        break;
    case BOX:
        call(node->bus, node->path, "org.a11y.atspi.Component", "GetExtents", "u", NULL, NULL, 0);
        break;
    case COUNT:
        call(node->bus, node->path, properties, "Get", "ss", accessible, "ChildCount", 0);
        break;
    case CHILDREN:
        call(node->bus, node->path, accessible, "GetChildren", "", NULL, NULL, 0);
    }
}

static void take(int index, enum question question, const struct reply *reply) {
    size_t at = 0;
    const uint8_t *body = reply->body;
    const char *bus, *path, *text;
    switch (question) {
    case STATES:
        if (reply->length >= 12)
            nodes[index].states = number_at(body + 4) | (uint64_t)number_at(body + 8) << 32;
        break;
    case ROLE:
        if ((text = text_at(reply, &at)))
            nodes[index].role = strdup(text);
        break;
    case NAME: /* a variant: its type in three bytes, then the value */
        at = 3;
        if (reply->length > 3 && body[1] == 's' && (text = text_at(reply, &at)))
            nodes[index].name = strdup(text);
        break;
    case BOX:
        if (reply->length >= 16)
            memcpy(nodes[index].box, body, 16);
        break;
    case COUNT:
        if (reply->length >= 8 && body[1] == 'i')
            nodes[index].count = number_at(body + 4);
        break;
    case CHILDREN:
        for (at = 8; at < reply->length;) {
            at = (at + 7) & ~7ull;
            if (!(bus = text_at(reply, &at)) || !(path = text_at(reply, &at)))
                break;
            if (known < 4 * most + 64)
                add(bus, path, index, nodes[index].depth + 1);
            else
                cut = 1;
        }
    }
}

/* Asks all questions of all the nodes, many at a time; 0 when the time is used up. */
static int ask_all(const int *which, int number, const enum question *questions, int each) {
    for (int done = 0; done < number;) {
        int some = number - done < AT_ONCE / each ? number - done : AT_ONCE / each;
        uint32_t first = serial + 1;
        for (int i = 0; i < some * each; i++)
            ask(&nodes[which[done + i / each]], questions[i % each]);
        if (!flush())
            return 0;
        for (int left = some * each; left;) {
            struct reply reply;
            if (!receive(&reply))
                return 0;
            uint32_t place = reply.answers - first;
            if ((reply.type != 2 && reply.type != 3) || place >= (uint32_t)(some * each))
                continue; /* a signal */
            left--;
            if (reply.type == 2)
                take(which[done + place / each], questions[place % each], &reply);
        }
        done += some;
    }
    return 1;
}

/* Most elements of a window are the entries of menus that are not open: asking each whether it shows takes a second. */
static int closed_menu(const struct node *node) {
    const char *above = nodes[node->parent].role;
    return node->role && above && !strcmp(node->role, "menu") && (!strcmp(above, "menu bar") || !strcmp(above, "menu")) &&
           !(node->states & OPEN);
}

/* Level by level: states first, because most of a tree does not show; 0 when the time is used up. */
static int walk(void) {
    static const enum question children = CHILDREN, states = STATES, facts[] = {ROLE, NAME, BOX, COUNT};
    int root = add("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root", -1, 0);
    if (!ask_all(&root, 1, &children, 1))
        return 0;
    for (int from = root + 1, depth = 1; from < known && depth < MOST_DEPTH; depth++) {
        int to = known, number = 0, *chosen = malloc((to - from) * sizeof *chosen);
        for (int i = from; i < to; i++)
            chosen[number++] = i;
        if (depth > 1) { /* the first level are programs, which have no place on the screen */
            if (!ask_all(chosen, number, &states, 1))
                return 0;
            int showing = 0;
            for (int i = 0; i < number; i++)
                if (nodes[chosen[i]].states & SHOWING)
                    chosen[showing++] = chosen[i];
            if (!ask_all(chosen, showing, facts, 4))
                return 0;
            number = 0;
            for (int i = 0; i < showing; i++) {
                struct node *node = &nodes[chosen[i]];
                if (closed_menu(node))
                    continue;
                if (node->count > MOST_CHILDREN || node->count < 0)
                    cut = 1; /* a sheet has thousands of millions of cells */
                else if (node->count)
                    chosen[number++] = chosen[i];
            }
        }
        if (!ask_all(chosen, number, &children, 1))
            return 0;
        free(chosen);
        from = to;
    }
    return 1;
}

static void print(void) {
    int *printed = malloc(known * sizeof *printed), lines = 0; /* number of a node's own line or of the nearest one above */
    for (int i = 0; i < known; i++) {
        struct node *node = &nodes[i];
        int above = node->parent < 0 ? -1 : printed[node->parent];
        printed[i] = above;
        if (node->depth < 2 || !(node->states & SHOWING) || !node->role || node->box[2] <= 0 || node->box[3] <= 0)
            continue;
        if (node->depth > 2 && !(node->name && *node->name) && !(node->states & USABLE))
            continue;
        if (lines == most) {
            cut = 1;
            break;
        }
        printed[i] = lines++;
    }
    printf("elements %s\n", cut ? "cut" : "whole");
    for (int i = 0, line = 0; i < known && line < lines; i++) {
        struct node *node = &nodes[i];
        if (printed[i] != line)
            continue;
        line++;
        printf("%d\t%d\t%s\t%d\t%d\t%d\t%d\t%llx\t", printed[i], node->parent < 0 ? -1 : printed[node->parent], node->role,
               node->box[0], node->box[1], node->box[2], node->box[3], (unsigned long long)node->states);
        for (int k = 0; node->name && node->name[k] && k < NAME_BYTES; k++)
            putchar((unsigned char)node->name[k] < ' ' ? ' ' : node->name[k]);
        putchar('\n');
    }
}

static int meet(const char *folder) {
    static const char *const sockets[] = {"bus_0", "bus"}; /* with the number of the X screen, or without one */
    for (int i = 0; i < 2; i++) {
        struct sockaddr_un place = {.sun_family = AF_UNIX};
        snprintf(place.sun_path, sizeof place.sun_path, "%s/at-spi/%s", folder, sockets[i]);
        bus_socket = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(bus_socket, (struct sockaddr *)&place, sizeof place) == 0)
            return 1;
        close(bus_socket);
    }
    return 0;
}

static int greet(void) {
    char line[256], hex[64] = "", uid[24];
    snprintf(uid, sizeof uid, "%u", getuid());
    for (int i = 0; uid[i]; i++)
        sprintf(hex + 2 * i, "%02x", uid[i]);
    int length = snprintf(line, sizeof line, "%cAUTH EXTERNAL %s\r\n", 0, hex);
    if (write(bus_socket, line, length) != length || !fill(4))
        return 0;
    for (size_t at = 4; memcmp(in + at - 2, "\r\n", 2); at++)
        if (!fill(at + 1))
            return 0;
    if (memcmp(in, "OK ", 3) || write(bus_socket, "BEGIN\r\n", 7) != 7)
        return 0;
    got = taken = 0;
    call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello", "", NULL, NULL, 0);
    struct reply reply = {0};
    if (!flush())
        return 0;
    while (reply.answers != serial)
        if (!receive(&reply))
            return 0;
    return reply.type == 2;
}

int main(int count, char **arguments) {
    const char *folder = getenv("XDG_RUNTIME_DIR");
    most = count > 1 ? atoi(arguments[1]) : 1000;
    deadline = now() + (count > 2 ? atoi(arguments[2]) : 3000);
    in = malloc(MOST_MESSAGE);
    if (!folder || !meet(folder)) { /* no program that speaks it was started yet */
        puts("elements whole");
        return 0;
    }
    if (!greet()) {
        if (now() >= deadline) { /* a starved bus is late, not broken */
            puts("elements cut");
            return 0;
        }
        fputs("elements: the accessibility bus does not answer\n", stderr);
        return 1;
    }
    if (!walk())
        cut = 1;
    print();
    return 0;
}
