#!/usr/bin/env python3
"""The commands that show something: :profile, :timeline, :trace, :graph and :source, as a program and at a terminal.

    seen.py PROGRAM [NAME...]     runs all tests, or those named"""

import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

from terminal import PATIENCE, Terminal, equal, main

SETUP = "seed(1); x = randn(64, 96); w = randn(96, 32); def f(x, w) {\n  h = x @ w\n  sum(tanh(h))\n};"


def run(program, home, *statements, status=0, args=()):
    """The program on -e statements; its output, its diagnostics."""
    command = [program, "--no-init", *args]
    for s in statements:
        command += ["-e", s]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE, cwd=home,
                          env={"HOME": str(home), "LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]})
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


def test_profile_table(program, home):
    out, _ = run(program, home, SETUP, ":profile f(x, w)")
    header, *rows = out.splitlines()
    equal(header.split(), ["time", "share", "calls", "mean", "GB/s", "GFLOP/s", "limit", "what", "where"])
    equal({r.split()[-2] for r in rows[:3]}, {"matmul", "tanh", "sum"})
    assert all(len(line) <= 80 for line in rows[:3]), out
    assert "tracing:" in rows[-1] and "untraced" in rows[-1] and "LOST" not in out, out
    assert (home / ".cache" / "tapedeck").is_dir(), "the machine's limits are kept"


def test_profile_json(program, home):
    out, _ = run(program, home, SETUP, ":profile f(x, w) --json --runs 3")
    table = json.loads(out)
    equal({r["name"] for r in table["rows"]}, {"matmul", "tanh", "sum"})
    equal((table["runs"], table["lost"], table["title"]), (3, 0, "f(x, w)"))
    product = next(r for r in table["rows"] if r["name"] == "matmul")
    equal((product["flops"], product["bytes"]), (2 * 64 * 96 * 32, 4 * (64 * 96 + 96 * 32 + 64 * 32)))
    shares = sum(r["share"] for r in table["rows"]) + table["between_launches_ns"] / table["wall_ns"]
    assert abs(shares - 1) < 1e-9, shares
    assert table["traced_ns"] > 0 and table["untraced_ns"] > 0
    out, _ = run(program, home, SETUP, ":profile f(x, w)", args=["--json"])  # the program's own --json
    json.loads(out)


def test_profile_runs_once_for_the_program(program, home):
    """Statements are rehearsed, and happen once."""
    out, _ = run(program, home, "n = 0; def g() { print(\"ran\"); 1 }; seed(5)", ":profile n = n + g(); a = rand(1)",
                 "print(n)", "b = rand(1); seed(5); c = rand(1); d = rand(1); print(a == c, b == d)")
    equal([line for line in out.splitlines() if line == "ran"], ["ran"])
    assert out.splitlines()[-2:] == ["1", "[true] [true]"], out


def test_profile_failures(program, home):
    _, err = run(program, home, ":profile", status=1)
    assert "E706" in err and ":profile STATEMENT" in err, err
    _, err = run(program, home, ":profile nosuch + 1", status=1)
    assert "E201" in err and ":profile nosuch + 1" in err, err
    _, err = run(program, home, ":profile 1 --runs 0", status=1)
    assert "--runs" in err, err
    _, err = run(program, home, ":profile 1 --runs", status=1)
    assert "--runs needs a value" in err, err
    _, err = run(program, home, ":profile --sideways 1", status=1)
    assert "no option --sideways" in err, err
    _, err = run(program, home, ":timeline --text", status=1)
    assert "E706" in err, err


def test_trace_is_valid_json(program, home):
    out, _ = run(program, home, SETUP, ":profile f(x, w)", ":trace save 'my trace.json'")
    assert "wrote my trace.json: 4 events" in out, out
    trace = json.loads((home / "my trace.json").read_text())
    events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    equal([e["name"] for e in events], ["statement", "matmul", "tanh", "sum"])
    statement, *ops = events
    for op in ops:
        assert statement["ts"] <= op["ts"] and op["ts"] + op["dur"] <= statement["ts"] + statement["dur"] + 1e-6
    equal((events[1]["args"]["span"], events[1]["args"]["source"]), ("-e:2", "h = x @ w"))
    _, err = run(program, home, SETUP, ":profile f(x, w)", ":trace save /nowhere/t.json", status=1)
    assert "E621" in err and "/nowhere/t.json" in err, err
    _, err = run(program, home, ":trace keep x", status=1)
    assert "E805" in err, err


def test_timeline_text(program, home):
    out, _ = run(program, home, SETUP, ":profile f(x, w); f(x, w)", ":timeline")
    lanes = out[out.index(" .. "):]
    assert "[statement=" in lanes and "lane 0" in lanes, out
    assert all(len(line) <= 80 for line in lanes.splitlines()[1:]), out
    out, _ = run(program, home, SETUP, ":profile f(x, w)", ":timeline --out lanes.txt")
    assert "wrote lanes.txt" in out and "[statement=" in (home / "lanes.txt").read_text()


def test_timeline_picture(program, home):
    run(program, home, SETUP, ":profile f(x, w)  # <&> \"quoted\"", ":timeline --out 'my lanes.svg'")
    picture = xml.etree.ElementTree.parse(home / "my lanes.svg").getroot()
    texts = [t.text for t in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert "statement" in texts and "lane 0" in texts and "0 ns" in texts, texts
    assert "f(x, w)  # <&> \"quoted\"" in texts, texts
    tips = [t.text for t in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert any("matmul [eager]" in t and "-e:2  h = x @ w" in t for t in tips), tips
    for name, more in (("lanes.png", ""), ("lanes", ""), ("a.svg/lanes", ""), ("lanes.svg", "--text ")):
        _, err = run(program, home, SETUP, ":profile f(x, w)", f":timeline {more}--out {name}", status=1)
        assert "E704" in err and ".txt" in err and (more or ".svg" in err), err
        assert not (home / name).exists()
    for name, hint in (("~/t.svg", "is not the home folder"), ("nowhere/t.svg", "the folder has to be there")):
        _, err = run(program, home, SETUP, ":profile f(x, w)", f":timeline --out {name}", status=1)
        assert "E621" in err and hint in err, err
    _, err = run(program, home, "load('~/x.csv')", status=1)
    assert "E601" in err and "is not the home folder" in err, err


STEP = """def loss(m, x, y) { h = tanh(x @ m.w + m.b)
  mean((h - y) ** 2) }
def step(m, x, y) { l, g = value_and_grad(loss)(m, x, y)
  ({w: m.w - 0.1 * g.w, b: m.b - 0.1 * g.b}, l) }
m = {w: randn(6, 4), b: zeros(4)}; x = randn(5, 6); y = randn(5, 4);
g = freeze(step); r = g(m, x, y);"""


def test_graph_text(program, home):
    out, _ = run(program, home, STEP, ":graph g")
    lines = out.splitlines()
    equal(lines[0], "graph step {")
    for name in ("m.w", "m.b", "x", "y"):
        assert any(f"input {i} {name} : f32[" in line for i in range(4) for line in lines), (name, out)
    assert any("matmul" in line and line.endswith("# -e:1") for line in lines), out
    assert any("# backward -e:2" in line for line in lines) and "@" not in out, out
    out, _ = run(program, home, "g = freeze((x, w) -> x @ w, f32[?, 3], f32[3, 2]);", ":graph g", ":why g")
    for line in ("input 0 x : ", "input 1 w : ", "holds for x f32[s0, 3], w f32[3, 2]"):
        assert line in out, (line, out)
    before, _ = run(program, home, STEP, ":graph g --before")
    assert before.count("\n") > out.count("\n"), "passes make it smaller"


def test_graph_costs(program, home):
    for more, head in (("", "predicted: "), (" --before", "predicted: ")):
        out, _ = run(program, home, STEP, ":graph g --cost" + more)
        top, columns, *lines = out.splitlines()
        assert top.startswith(head) and " for s0 = " in top, out
        equal(columns.split(), ["share", "time", "flop", "bytes"])
        plain, _ = run(program, home, STEP, ":graph g" + more)
        equal([line[42:] for line in lines], plain.splitlines())
        equal({line[:42].strip() for line in lines if "input" in line or "return" in line}, {""})
        matmul = next(line for line in lines if "= matmul " in line)
        # x[5, 6] @ w[6, 4]: 2 * 5 * 6 * 4 flops, (30 + 24 + 20) * 4 bytes
        equal(matmul[:42].split()[-3:], ["240", "296", "B"])
        shares = [float(line[:42].split("%")[0].split()[-1]) for line in lines if "%" in line[:42]]
        assert abs(sum(shares) - 100) < 0.1 * len(shares), out
    out, _ = run(program, home, STEP, ":profile g(m, x, y)", ":graph g --cost")
    assert "\nmeasured: " in out, out
    out, _ = run(program, home, "g = freeze(x -> sum(x), f32[?, 3])", ":graph g --cost")
    assert "no costs: " in out and "for s0" not in out, out


def test_graph_pictures(program, home):
    out, _ = run(program, home, STEP, ":graph g --out g.svg", ":graph --cost --out 'g c.png' g", ":graph g --dot --before",
                 ":profile g(m, x, y)", ":graph g --cost --out g.gv")
    assert "wrote g.svg" in out and "wrote g c.png" in out and "digraph" in out, out
    picture = (home / "g.svg").read_text()
    for part in ("m.w", "matmul", "e:1<", "output 2", "blue: forward, red: backward"):
        assert part in picture, part
    equal((home / "g c.png").read_bytes()[:4], b"\x89PNG")
    dot = (home / "g.gv").read_text()
    assert "measured: " in dot and "f32[5, 6]" in dot and "flop" in dot, dot
    table, _ = run(program, home, STEP, ":profile g(m, x, y) --json")
    kernels = {r["kernel"] for r in json.loads(table)["rows"]}
    assert all(f"kernel {k}: " in dot for k in kernels), "the diagram has the table's kernels"
    _, err = run(program, home, STEP, ":graph g --out g.jpg", status=1)
    assert "E704" in err, err
    _, err = run(program, home, ":graph 1; 2", status=1)
    assert "E226" in err, err
    _, err = run(program, home, ":graph 1 + 1", status=1)
    assert "E708" in err and "freeze" in err, err
    _, err = run(program, home, "f = freeze(x -> x + 1);", ":graph f", status=1)
    assert "E707" in err, err


def test_source(program, home):
    out, _ = run(program, home, STEP, ":source g")
    assert "/* kernel 1: matmul [library], -e:1, 1 node: %" in out, out
    out, _ = run(program, home, STEP, ":source g --passes")
    assert out.startswith("# traced: ") and "\n# cse: " in out and "\n# dce: " in out, out
    out, _ = run(program, home, STEP, ":source g --graph")
    assert out.startswith("graph step {"), out
    _, err = run(program, home, STEP, ":source g --graph --passes", status=1)
    assert "E805" in err, err


def recorded(program, home, **options):
    t = Terminal(program, home, **options)
    t.prompt()
    t.write("def f(x) {\r  h = x @ x\r  sum(tanh(h))\r}\r")
    t.expect(r"\}\n> $")
    t.run(":profile f(ones(64, 64))")
    return t


def test_timeline_screen(program, home):
    t = recorded(program, home)
    before = t.modes()
    t.write(":timeline\r")
    t.expect("tab: next event")
    t.write("\t")
    t.expect("statement")
    t.write("j")
    t.expect(r"G(B|FLOP)/s")  # the op below, whichever is nearest in time
    t.write("?")
    t.expect("search; next")
    t.write("x/tanh\r")
    time.sleep(0.3)
    for size in ((2, 10), (1, 1), (5, 30), (24, 80)):
        t.resize(*size)
        time.sleep(0.2)
    t.drain()
    t.resize(24, 120)
    t.expect(r"(tanh|sum) \[eager\]")  # drawn again for the new window, without a key: what is on the line that says tanh
    t.drain()
    t.write("+")
    time.sleep(0.2)
    t.write("q")
    t.expect(r"> $")
    t.drain()  # the prompt is drawn again for the window's new size
    equal(t.modes(), before)
    equal(t.run("1 + 1"), "2")
    t.write(":timeline\r")
    t.expect("tab: next event")
    t.write("\x03")  # Ctrl-C leaves it too
    t.expect(r"> $")
    equal(t.modes(), before)
    equal(t.run("2 + 2"), "4")
    equal(t.leave(), 0)


def test_timeline_without_colours(program, home):
    t = recorded(program, home, term="vt100")
    t.write(":timeline\r")
    t.expect(r"\[statement=")
    t.write("q")
    t.expect(r"> $")
    equal(t.leave(), 0)


def test_timeline_on_unknown_terminals(program, home):
    for name in ("no-such-terminal", "dumb"):
        t = recorded(program, home, term=name)
        t.write(":timeline\r")  # there Readline may write the prompt twice
        shown = t.expect(r"--text[^>]*> ")
        assert "E705" in shown and name in shown and "[statement=" not in shown, shown
        t.write("1 + 1\r")
        t.expect(r"\n2\s+> ")
        t.drain()
        equal(t.leave(), 0)


def test_a_signal_restores_the_terminal(program, home):
    t = recorded(program, home)
    t.write(":timeline\r")
    t.expect("tab: next event")
    os.kill(t.pid, signal.SIGTERM)
    t.leave(keys="")
    assert "\x1b[?1049l" in t.raw or "\x1b[?1l" in t.raw, repr(t.raw[-300:])


if __name__ == "__main__":
    sys.exit(main(globals()))
