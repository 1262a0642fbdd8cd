/* test_timeline.c — the timeline apart from the screen: cells of a recording made by hand at many sizes, and
 * what the keys do. */
#include "tests/harness/check.h"

#include <stdio.h>
#include <string.h>

#include "viz/timeline.h"

static void add(recording *r, int64_t begin, int64_t end, const char *name, event_kind kind, int lane) {
    recorded e = {.begin = begin, .end = end, .name = name, .kind = kind, .lane = lane};
    e.tier = "C";
    e.place = "digits.td:14";
    e.source = "h = x @ w";
    e.graph = 1;
    e.node = 7;
    e.kernel = 2;
    e.bytes = 1000;
    e.flops = 2000;
    assert_int_equal(recording_add(r, &e), STATUS_OK);
}

/* 1000 ns: a statement over all of it, under it a product, two short kernels and a sum; one part on lane 1. */
static recording *example(void) {
    recording *r = recording_new(2, "step()");
    assert_non_null(r);
    add(r, 0, 1000, "step", EVENT_SPAN, 0);
    add(r, 100, 400, "matmul", EVENT_GEMM, 0);
    add(r, 500, 502, "k1", EVENT_KERNEL, 0);
    add(r, 503, 505, "k2", EVENT_KERNEL, 0);
    add(r, 700, 900, "sum", EVENT_OP, 0);
    add(r, 150, 390, "part", EVENT_GEMM, 1);
    recording_settle(r);
    return r;
}

static timeline_view open_view(const recording *r) {
    timeline_view v;
    error e = {0};
    assert_int_equal(timeline_open(&v, r, &e), STATUS_OK);
    return v;
}

/* A line of the cells as text; the caller frees it with text_free. */
static text line_of(const timeline_cells *c, int row) {
    text out = {0};
    for (int x = 0; x < c->width; x++) {
        char bytes[4];
        uint32_t code = c->cell[row * c->width + x].code;
        if (code) text_add_bytes(&out, bytes, utf8_encode(code, bytes));
    }
    return out;
}

static void assert_line(const timeline_cells *c, int row, const char *want) {
    text line = line_of(c, row);
    assert_string_equal(text_str(&line), want);
    text_free(&line);
}

static void draws_bars(void **state) {
    (void)state;
    recording *r = example();
    timeline_view v = open_view(r);
    timeline_cells c;
    assert_int_equal(v.rows, 3);
    assert_true(timeline_draw(&v, 58, 7, &c)); /* a column is 20 ns */
    assert_line(&c, 0, "0 ns .. 1 us of 1 us, 6 events  step()                    ");
    assert_line(&c, 1, "        |0 ns                    |500 ns                  ");
    assert_line(&c, 2, "lane 0  [step============================================]");
    assert_line(&c, 3, "             [matmul=======]     :         [sum=====]     ");
    assert_line(&c, 4, "lane 1         [part======]                               ");
    /* Colours instead of brackets, with the same places. */
    timeline_cells_free(&c);
    v.blocks = true;
    assert_true(timeline_draw(&v, 58, 7, &c));
    assert_line(&c, 3, "             matmul              :         sum            ");
    for (int x = 13; x < 28; x++) assert_int_equal(c.cell[3 * 58 + x].style, STYLE_GEMM);
    assert_int_equal(c.cell[3 * 58 + 12].style, STYLE_PLAIN);
    assert_int_equal(c.cell[3 * 58 + 28].style, STYLE_PLAIN);
    assert_int_equal(c.cell[3 * 58 + 33].style, STYLE_KERNEL);
    timeline_cells_free(&c);
    timeline_close(&v);
    recording_free(r);
}

/* Every size, also absurd ones; every cell is a character that can be shown, and bars lie in the rows. */
static void draws_at_every_size(void **state) {
    (void)state;
    recording *r = example();
    add(r, 910, 990, "größe_名前_\x01\xff", EVENT_OP, 1);
    recording_settle(r);
    for (int help = 0; help < 2; help++) {
        for (int width = 0; width <= 70; width++) {
            for (int height = 0; height <= 12; height++) {
                timeline_view v = open_view(r);
                timeline_key(&v, '\t');
                timeline_cells c;
                v.help = help;
                assert_true(timeline_draw(&v, width, height, &c));
                assert_int_equal(c.width, width ? width : 1);
                assert_int_equal(c.height, height ? height : 1);
                for (int i = 0; i < c.width * c.height; i++) {
                    uint32_t code = c.cell[i].code;
                    assert_true(code == 0 || (code >= 32 && code != 127));
                    if (!code) assert_int_equal(unicode_width(c.cell[i - 1].code), 2);
                }
                timeline_cells_free(&c);
                timeline_close(&v);
            }
        }
    }
    timeline_view v = open_view(r);
    timeline_cells c;
    assert_true(timeline_draw(&v, 1, 3, &c)); /* one column: everything is in it */
    assert_line(&c, 0, "#");
    assert_line(&c, 1, ":");
    timeline_cells_free(&c);
    timeline_close(&v);
    recording_free(r);
}

static void zooms_and_pans(void **state) {
    (void)state;
    recording *r = example();
    timeline_view v = open_view(r);
    assert_true(v.from == 0 && v.to == 1000);
    timeline_key(&v, '+');
    assert_true(v.from == 250 && v.to == 750);
    timeline_key(&v, TIMELINE_RIGHT);
    assert_true(v.from == 375 && v.to == 875);
    timeline_key(&v, 'l');
    timeline_key(&v, 'l');
    timeline_key(&v, 'l');
    assert_true(v.from == 500 && v.to == 1000); /* not past the end */
    timeline_key(&v, TIMELINE_HOME);
    assert_true(v.from == 0 && v.to == 1000);
    timeline_key(&v, '-');
    assert_true(v.from == 0 && v.to == 1000); /* not past everything */
    for (int i = 0; i < 100; i++) timeline_key(&v, 'i');
    assert_true(v.to - v.from == 10); /* not into nothing */
    timeline_cells c;
    assert_true(timeline_draw(&v, 50, 7, &c)); /* inside the statement, between the kernels and the sum */
    assert_line(&c, 2, "lane 0  step======================================");
    timeline_cells_free(&c);
    timeline_close(&v);
    recording_free(r);
}

static const char *selected(const timeline_view *v) {
    return v->selected < 0 ? "" : v->of->events[v->selected].name;
}

static void walks_events(void **state) {
    (void)state;
    recording *r = example();
    timeline_view v = open_view(r);
    timeline_key(&v, '\t');
    assert_string_equal(selected(&v), "step");
    timeline_key(&v, 'j');
    assert_string_equal(selected(&v), "k1"); /* the nearest to the middle */
    timeline_key(&v, '\t');
    assert_string_equal(selected(&v), "k2");
    timeline_key(&v, TIMELINE_BACK_TAB);
    timeline_key(&v, TIMELINE_BACK_TAB);
    assert_string_equal(selected(&v), "matmul");
    timeline_key(&v, TIMELINE_BACK_TAB);
    assert_string_equal(selected(&v), "matmul");
    assert_non_null(v.message);
    timeline_key(&v, TIMELINE_DOWN);
    assert_string_equal(selected(&v), "part");
    assert_null(v.message);
    timeline_key(&v, TIMELINE_UP);
    timeline_key(&v, '\r'); /* zoom to it */
    assert_true(v.from == 70 && v.to == 430);
    timeline_key(&v, '\t'); /* the next is brought into the window */
    assert_string_equal(selected(&v), "k1");
    assert_true(v.from <= 500 && v.to >= 502 && v.to - v.from == 360);
    timeline_cells c;
    assert_true(timeline_draw(&v, 100, 7, &c));
    text details = line_of(&c, 5), more = line_of(&c, 6);
    assert_non_null(strstr(text_str(&details),
                           "k1 [C]  2 ns at 500 ns  graph 1 node 7 kernel 2  500 GB/s  1e+03 GFLOP/s"));
    assert_non_null(strstr(text_str(&more), "digits.td:14  h = x @ w"));
    text_free(&details);
    text_free(&more);
    timeline_cells_free(&c);
    timeline_key(&v, 27);
    assert_int_equal(v.selected, -1);
    assert_false(timeline_key(&v, 'q'));
    timeline_close(&v);
    recording_free(r);
}

static void type(timeline_view *v, const char *keys) {
    while (*keys) assert_true(timeline_key(v, (uint32_t)*keys++));
}

static void searches(void **state) {
    (void)state;
    recording *r = example();
    timeline_view v = open_view(r);
    type(&v, "/SUM\n");
    assert_string_equal(selected(&v), "sum");
    type(&v, "/k\n");
    assert_string_equal(selected(&v), "k1");
    type(&v, "n");
    assert_string_equal(selected(&v), "k2");
    type(&v, "n"); /* around */
    assert_string_equal(selected(&v), "k1");
    type(&v, "N");
    assert_string_equal(selected(&v), "k2");
    type(&v, "/digits.td:14\n");
    assert_string_equal(selected(&v), "sum");
    type(&v, "/nosuch");
    timeline_cells c;
    assert_true(timeline_draw(&v, 40, 7, &c));
    text more = line_of(&c, 6);
    assert_memory_equal(text_str(&more), "/nosuch_", 8);
    text_free(&more);
    timeline_cells_free(&c);
    timeline_key(&v, TIMELINE_ERASE);
    assert_string_equal(v.search, "nosuc");
    type(&v, "\n");
    assert_string_equal(selected(&v), "sum");
    assert_non_null(v.message);
    type(&v, "/q"); /* a letter of the search, not the end */
    timeline_key(&v, 27);
    assert_false(v.searching);
    timeline_key(&v, '/');
    for (int i = 0; i < 200; i++) timeline_key(&v, 0x1F642);
    assert_true(strlen(v.search) <= TIMELINE_SEARCH);
    for (int i = 0; i < 200; i++) timeline_key(&v, TIMELINE_ERASE);
    assert_string_equal(v.search, "");
    timeline_close(&v);
    recording_free(r);
}

/* Many lanes on a small screen: the selected row is always among those shown. */
static void scrolls(void **state) {
    (void)state;
    recording *r = recording_new(40, "");
    for (int lane = 0; lane < 40; lane++) add(r, 10 * lane, 10 * lane + 300, "e", EVENT_OP, lane);
    recording_settle(r);
    timeline_view v = open_view(r);
    assert_int_equal(v.rows, 40);
    for (int i = 0; i < 60; i++) {
        timeline_key(&v, i < 45 ? 'j' : 'k');
        timeline_cells c;
        assert_true(timeline_draw(&v, 60, 10, &c));
        int row = timeline_row(&v, &r->events[v.selected]);
        assert_true(row >= v.top && row < v.top + v.height);
        bool seen = false;
        for (int k = 0; k < c.width * c.height; k++) seen |= c.cell[k].selected;
        assert_true(seen);
        timeline_cells_free(&c);
    }
    timeline_close(&v);
    recording_free(r);
}

static void prints_text(void **state) {
    (void)state;
    recording *r = example();
    timeline_view v = open_view(r);
    text out = {0};
    timeline_text(&v, 58, &out);
    assert_string_equal(text_str(&out), "0 ns .. 1 us of 1 us, 6 events  step()\n"
                                        "        |0 ns                    |500 ns\n"
                                        "lane 0  [step============================================]\n"
                                        "             [matmul=======]     :         [sum=====]\n"
                                        "lane 1         [part======]\n");
    text_free(&out);
    timeline_close(&v);
    recording_free(r);
}

static void shows_an_empty_recording(void **state) {
    (void)state;
    recording *r = recording_new(1, "");
    timeline_view v = open_view(r);
    timeline_cells c;
    for (const char *k = "\tjkhl+-\r/x\nnN?q0$"; *k; k++) {
        timeline_key(&v, (uint32_t)*k);
        assert_true(timeline_draw(&v, 50, 8, &c));
        timeline_cells_free(&c);
    }
    timeline_close(&v);
    recording_free(r);
}

static void survives_running_out_of_memory(void **state) {
    (void)state;
    recording *r = example();
    int64_t live = mem_live();
    timeline_view v;
    error e = {0};
    mem_fail_after(1);
    assert_int_equal(timeline_open(&v, r, &e), STATUS_MEMORY);
    mem_fail_after(0);
    v = open_view(r);
    timeline_cells c;
    mem_fail_after(1);
    assert_false(timeline_draw(&v, 80, 24, &c));
    mem_fail_after(0);
    timeline_close(&v);
    assert_int_equal(mem_live(), live);
    recording_free(r);
}

/* How often `part` stands in s. */
static int count_of(const char *s, const char *part) {
    int count = 0;
    for (const char *at = s; (at = strstr(at, part)); at += strlen(part)) count++;
    return count;
}

static void draws_a_picture(void **state) {
    (void)state;
    recording *r = example();
    timeline_view v = open_view(r);
    text out = {0};
    timeline_svg(&v, &out);
    const char *svg = text_str(&out);
    /* 1000 ns are 1100 pixels from 76 on; the second row of lane 0 and the first of lane 1 */
    assert_non_null(
        strstr(svg, "<g class=\"k2\"><rect x=\"186.00\" y=\"106\" width=\"330.00\" height=\"20\"/>"));
    assert_non_null(strstr(svg, "<text x=\"190.00\" y=\"120\">matmul</text>"));
    assert_non_null(strstr(svg, ">lane 0</text>"));
    assert_non_null(strstr(svg, ">lane 1</text>"));
    assert_non_null(strstr(svg, ">step()</text>"));
    assert_non_null(strstr(svg, ">0 ns .. 1 us of 1 us, 6 events</text>"));
    assert_non_null(strstr(svg, "y=\"72\">500 ns</text>"));
    assert_non_null(
        strstr(svg, "<title>matmul [C]  300 ns at 100 ns  graph 1 node 7 kernel 2  3.33 GB/s  6.67 GFLOP/s\n"
                    "digits.td:14  h = x @ w</title>"));
    assert_int_equal(count_of(svg, "<title>"), 6);
    assert_non_null(strstr(svg, ">matmul</text>\n<g class=\"k5\">")); /* the legend has what is there */
    assert_null(strstr(svg, ">compile</text>"));
    text_free(&out);
    v.from = 450; /* a part of it: the product is over, and lane 1 did nothing */
    timeline_svg(&v, &out);
    assert_int_equal(count_of(text_str(&out), "<title>"), 4);
    assert_non_null(strstr(text_str(&out), ", 1 more lane without events</text>"));
    text_free(&out);
    timeline_close(&v);
    recording_free(r);
}

static void a_picture_is_xml_whatever_the_names(void **state) {
    (void)state;
    recording *r = recording_new(1, "x < y & \"z\" \x1b\xff");
    add(r, 0, 1000, "a<b>&\"c\"\x07", EVENT_OP, 0);
    add(r, 100, 140, "longer than its bar", EVENT_OP, 0);
    add(r, 200, 215, "none", EVENT_OP, 0);
    for (int i = 0; i < 1000; i++) add(r, 500, 500, "at once", EVENT_OP, 0);
    recording_settle(r);
    timeline_view v = open_view(r);
    text out = {0};
    timeline_svg(&v, &out);
    const char *svg = text_str(&out);
    assert_non_null(strstr(svg, ">a&lt;b&gt;&amp;&quot;c&quot;\xef\xbf\xbd</text>"));
    assert_non_null(strstr(svg, ">x &lt; y &amp; &quot;z&quot; \xef\xbf\xbd\xef\xbf\xbd</text>"));
    assert_non_null(strstr(svg, ">long\xe2\x80\xa6</text>"));
    assert_null(strstr(svg, ">none</text>"));
    assert_true(count_of(svg, "<title>at once") <= 1); /* too short to be told apart */
    assert_int_equal(count_of(svg, "<g "), count_of(svg, "</g>"));
    assert_int_equal(count_of(svg, "<text "), count_of(svg, "</text>"));
    text_free(&out);
    timeline_close(&v);
    recording_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_bars),
        cmocka_unit_test(draws_a_picture),
        cmocka_unit_test(a_picture_is_xml_whatever_the_names),
        cmocka_unit_test(draws_at_every_size),
        cmocka_unit_test(zooms_and_pans),
        cmocka_unit_test(walks_events),
        cmocka_unit_test(searches),
        cmocka_unit_test(scrolls),
        cmocka_unit_test(prints_text),
        cmocka_unit_test(shows_an_empty_recording),
        cmocka_unit_test(survives_running_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
