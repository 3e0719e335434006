/* windows: prints what windows the X screen shows, for the host's state signature, in one short connection.
 *
 * First line: "active ID" (0 when none). Then a line for each window of _NET_CLIENT_LIST_STACKING, bottom first:
 * ID, desktop (-1: on all), class instance, class name, x, y, width, height of the outer frame, title; split by tabs.
 * Static and alone, because under emulation starting one of xdotool, wmctrl or xwininfo costs a tenth of a second.
 * Properties: Extended Window Manager Hints 1.5, https://specifications.freedesktop.org/wm-spec/
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xcb/xcb.h>

enum { MOST = 1 << 14 }; /* four-byte units read of one property */

static xcb_connection_t *display;
static xcb_window_t root;

static xcb_atom_t atom(const char *name) {
    xcb_intern_atom_cookie_t asked = xcb_intern_atom(display, 0, strlen(name), name);
    xcb_intern_atom_reply_t *reply = xcb_intern_atom_reply(display, asked, NULL);
    xcb_atom_t found = reply ? reply->atom : XCB_ATOM_NONE;
    free(reply);
    return found;
}

/* NULL when the window is gone or has no such property. */
static xcb_get_property_reply_t *property(xcb_window_t window, xcb_atom_t name) {
    xcb_get_property_cookie_t asked = xcb_get_property(display, 0, window, name, XCB_GET_PROPERTY_TYPE_ANY, 0, MOST);
    xcb_get_property_reply_t *reply = xcb_get_property_reply(display, asked, NULL);
    if (reply && xcb_get_property_value_length(reply) == 0) {
        free(reply);
        return NULL;
    }
    return reply;
}

static uint32_t number(xcb_window_t window, xcb_atom_t name, uint32_t otherwise) {
    xcb_get_property_reply_t *reply = property(window, name);
    uint32_t found = reply && reply->format == 32 ? *(uint32_t *)xcb_get_property_value(reply) : otherwise;
    free(reply);
    return found;
}

/* Text up to a zero byte, without the characters that structure a line; returns how many bytes that was. */
static int put(const char *text, int length) {
    int i;
    for (i = 0; i < length && text[i]; i++)
        putchar((unsigned char)text[i] < ' ' ? ' ' : text[i]);
    return i;
}

/* The top-level window that `window` lives in: what the window manager put around it. */
static xcb_window_t frame_of(xcb_window_t window) {
    for (;;) {
        xcb_query_tree_reply_t *reply = xcb_query_tree_reply(display, xcb_query_tree(display, window), NULL);
        xcb_window_t parent = reply ? reply->parent : XCB_NONE;
        free(reply);
        if (parent == XCB_NONE || parent == root)
            return window;
        window = parent;
    }
}

int main(void) {
    const char *where = getenv("DISPLAY");
    display = xcb_connect(where && *where ? where : ":0", NULL);
    if (xcb_connection_has_error(display)) {
        fputs("windows: the X server cannot be reached\n", stderr);
        return 1;
    }
    root = xcb_setup_roots_iterator(xcb_get_setup(display)).data->root;
    xcb_atom_t desktop = atom("_NET_WM_DESKTOP"), title = atom("_NET_WM_NAME");
    printf("active 0x%x\n", number(root, atom("_NET_ACTIVE_WINDOW"), 0));
    xcb_get_property_reply_t *list = property(root, atom("_NET_CLIENT_LIST_STACKING"));
    int count = list ? xcb_get_property_value_length(list) / 4 : 0;
    xcb_window_t *windows = list ? xcb_get_property_value(list) : NULL;
    for (int i = 0; i < count; i++) {
        xcb_get_geometry_reply_t *box =
            xcb_get_geometry_reply(display, xcb_get_geometry(display, frame_of(windows[i])), NULL);
        if (!box)
            continue; /* closed meanwhile */
        printf("0x%x\t%d\t", windows[i], (int)number(windows[i], desktop, 0));
        xcb_get_property_reply_t *class = property(windows[i], XCB_ATOM_WM_CLASS);
        int length = class ? xcb_get_property_value_length(class) : 0;
        const char *names = class ? xcb_get_property_value(class) : "";
        int used = put(names, length) + 1;
        putchar('\t');
        if (used < length)
            put(names + used, length - used);
        /* A frame's border lies outside the geometry the server tells. */
        printf("\t%d\t%d\t%d\t%d\t", box->x, box->y, box->width + 2 * box->border_width, box->height + 2 * box->border_width);
        xcb_get_property_reply_t *name = property(windows[i], title);
        if (!name)
            name = property(windows[i], XCB_ATOM_WM_NAME);
        if (name)
            put(xcb_get_property_value(name), xcb_get_property_value_length(name));
        putchar('\n');
        free(name);
        free(class);
        free(box);
    }
    free(list);
    xcb_disconnect(display);
    return 0;
}
