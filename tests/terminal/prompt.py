#!/usr/bin/env python3
"""Drives the prompt through a pseudo terminal, as hands would: typing, Tab, history, paste, Ctrl-C, Ctrl-D.

    prompt.py PROGRAM [NAME...]     runs all tests, or those named"""

import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import termios
import time

from terminal import PATIENCE, Terminal, equal, main


def test_typing_and_leaving(program, home):
    t = Terminal(program, home)
    banner = t.prompt()
    assert "tapedeck" in banner and len(banner.strip().split("\n")) <= 2, banner
    equal(t.run("sum([1, 2, 3])"), "6")
    equal(t.run("x = 4"), "x: 4")
    equal(t.run("x;"), "")
    equal(t.run(""), "")
    assert t.run("nonsense").startswith("E201 name: nonsense"), "an error goes to the screen"
    assert "did you mean :help?" in t.run(":hlep")
    assert "right behind the `:`" in t.run(": help")
    equal(t.run("x"), "4")
    equal(t.leave(), 0)


def test_statements_over_several_lines(program, home):
    t = Terminal(program, home)
    t.prompt()
    t.write("def f(x) {\r")
    equal(t.expect(r"\n(> |\. )$")[-2:], ". ")
    equal(t.run("  x * 2"), "")
    equal(t.run("}"), "")
    equal(t.run("f(21)"), "42")
    t.write("[1,\r")
    t.expect(r"\n\. $")
    t.write("\x03")  # drops all of it
    t.expect(r"\^C\n> $")
    equal(t.run("f(1)"), "2")
    t.write("(1 +\r")
    t.expect(r"\n\. $")
    t.write("\x04")  # so does Ctrl-D, which leaves only from an empty line
    t.expect(r"\n> $")
    equal(t.run("f(2)"), "4")
    equal(t.leave(":quit 7\r"), 7)


def test_completion(program, home):
    (home / "some_data.csv").write_text("1,2\n")
    t = Terminal(program, home)
    t.prompt()
    t.run("a_rather_long_name = 5")
    equal(t.run("a_rat\t"), "5")
    equal(t.run("tan\t0.0)"), "0.0")  # the bracket comes along
    equal(t.run("sum([[1, 2]], ax\t0)").split("\n")[-1], "[1, 2]")  # axis=
    t.run("r = {first: 1, second: 2}")
    equal(t.run("r.sec\t"), "2")
    assert "f32[1, 2]" in t.run("load('some\t)"), "a file within quotes"
    assert "a_rather_long_name" in t.run(":va\t"), "a command"
    t.write("mea\t\t")
    t.expect(r"mean\($")
    t.write("\x03")
    t.prompt()
    t.write("m\t\t")  # several: Tab twice lists them
    listed = t.expect(r"> m$")
    assert "max" in listed and "mean" in listed, listed
    t.write("\x03")
    t.prompt()
    equal(t.leave(), 0)


def test_history_lasts(program, home):
    t = Terminal(program, home)
    t.prompt()
    t.run("111 + 1")
    t.write("(2 +\r")
    t.expect(r"\n\. $")
    equal(t.run("3)"), "5")
    t.run("def f(x) { x @ w }")
    assert "in f, called at prompt:5:1: f(1)" in t.run("f(1)"), "lines typed are counted"
    equal([line.split()[0] for line in t.run(":history").split("\n")], ["1", "2", "3)", "4", "5", "6"])
    equal(t.leave(), 0)
    kept = home / ".local/state/tapedeck/history"
    assert kept.exists() and (kept.parent.stat().st_mode & 0o77) == 0, "others must not read the history"
    t = Terminal(program, home)
    t.prompt()
    equal(t.run("\x1b[A\x1b[A\x1b[A\x1b[A").split("\n")[-1], "5")  # arrow up: a statement of two lines is one entry
    equal(t.run("\x12111").split("\n")[-1], "112")  # Ctrl-R searches
    t.leave()
    t = Terminal(program, home)
    t.prompt()
    assert "111 + 1" in t.run(":history"), "Ctrl-R found it"
    os.kill(t.pid, signal.SIGKILL)  # nothing is lost with the process
    t.leave("")
    t = Terminal(program, home)
    t.prompt()
    assert ":history" in t.run("\x1b[A\x1b[A\x1b[B"), "the last statement was kept"
    t.leave()


def test_interrupts(program, home):
    t = Terminal(program, home)
    t.prompt()
    # the bound is 100 ms; a debug build on a slow machine gets more, and sanitizers make freeing slow
    most = 2 if re.search(r"build-[at]san", program) else 0.25
    t.run("x = 5; y = [1, 2]; many = zeros(20000000) as i64; few = zeros(9)")
    loops = ("while true {}", "for i in 0..100000000000 { x = i }", "def f(n) { while true { n += 1 } }; f(x)",
             "while true { y = y + 1 }", "while true { few[many] = 1.0 }",
             "while true { s = \"a\"; for i in 0..26 { s = s + s } }", "while true { t = (x,); for i in 0..22 { t = t + t } }")
    for loop in loops:
        t.write(loop + "\r")
        t.expect(r"\n$")
        time.sleep(0.3)
        before = t.cpu()
        t.write("\x03")
        shown = t.prompt()
        used = t.cpu() - before
        assert "interrupted" in shown, shown
        assert used <= most, f"{loop}: {used:.3f} s of processor time from Ctrl-C to the prompt"
        equal(t.run("x"), "5")
        equal(t.run("y").split("\n")[-1], "[1, 2]")
    t.write("abc\x03")
    assert "^C" in t.prompt()
    equal(t.run("x"), "5")
    equal(t.leave(), 0)


def test_a_killed_prompt_leaves_the_terminal_in_order(program, home):
    t = Terminal(program, home)
    t.prompt()
    t.write("half a li")
    t.expect("half a li$")
    assert not t.modes()[3] & termios.ICANON, "the editor reads single keys"
    os.kill(t.pid, signal.SIGTERM)
    _, status = os.waitpid(t.pid, 0)
    equal(os.waitstatus_to_exitcode(status), -signal.SIGTERM)
    assert termios.tcgetattr(t.fd)[3] & termios.ICANON, "lines again"
    os.close(t.fd)


def test_paste(program, home):
    t = Terminal(program, home)
    t.prompt()
    t.write("\x1b[200~u = 1\ndef g(x) {\n  x + u\n}\ng(2)\x1b[201~")
    time.sleep(0.2)
    equal(t.run("").split("\n")[-2:], ["u: 1", "3"])
    equal(t.leave(), 0)


def test_colours(program, home):
    def shows_colour(term, **environment):
        os.environ.update(environment)
        t = Terminal(program, home, term=term)
        for k in environment:
            del os.environ[k]
        t.prompt()
        t.write("nonsense\r[1, 2]\r")
        time.sleep(0.1)
        t.expect(r"\[1, 2\]\n> $")
        t.write("foo\r")
        deadline = time.monotonic() + PATIENCE
        while "E201" not in t.raw and time.monotonic() < deadline:
            t.raw += os.read(t.fd, 65536).decode()
        coloured = "\x1b[1;31m" in t.raw
        t.prompt()
        t.leave()
        return coloured

    assert shows_colour("xterm")
    assert not shows_colour("dumb")
    assert not shows_colour("xterm", NO_COLOR="1")


def test_window(program, home):
    t = Terminal(program, home, size=(24, 60))
    t.prompt()
    narrow = t.run("arange(10000.0)").split("\n")[-1]
    assert 30 < len(narrow) <= 60, narrow
    t.resize(24, 120)
    t.drain()
    wide = t.run("arange(10000.0)").split("\n")[-1]
    assert 90 < len(wide) <= 120, wide
    t.leave()


def test_help_fits_the_window(program, home):
    for columns in (80, 60, 120):
        t = Terminal(program, home, size=(24, columns))
        t.prompt()
        for command in (":help", ":help functions", "?", ":explain E101"):
            lines = t.run(command).split("\n")
            assert max(len(line) for line in lines if " " in line.strip()) <= columns, (columns, lines)
        equal(t.leave(), 0)


def test_start_up_file(program, home):
    folder = home / ".config/tapedeck"
    folder.mkdir(parents=True)
    (folder / "init.td").write_text("x = 12\nprint('hello')\nnonsense\n")
    t = Terminal(program, home, args=())
    banner = t.prompt()
    assert "hello" in banner and "init.td:3: E201" in banner and "x: 12" not in banner, banner
    equal(t.run("x"), "12")
    t.leave()
    t = Terminal(program, home)
    assert "hello" not in t.prompt()
    t.leave()


# ---- without a terminal ----

def run(program, home, *args, stdin=b""):
    done = subprocess.run([program, "--no-init", *args], cwd=home, input=stdin, capture_output=True, timeout=PATIENCE,
                          check=False, env={"HOME": str(home), "PATH": "/usr/bin:/bin"})
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def test_exit_statuses(program, home):
    equal(run(program, home, "-e", "sum([1, 2, 3])"), (0, "6\n", ""))
    equal(run(program, home, "-e", "x = 2;", "-e", "x + 1"), (0, "3\n", ""))
    code, out, err = run(program, home, "-e", "1 + 1\nnonsense\n3")
    assert (code, out) == (1, "2\n") and err.startswith("-e:2: E201"), (code, out, err)
    code, out, err = run(program, home, "-e", "assert(1 > 2, 'no')")
    assert code == 3 and "no" in err, (code, err)
    code, out, err = run(program, home, "--json", "-e", ":time nonsense")
    assert code == 1 and '"line":1,"column":7' in err, "a command's argument has its place in the line"
    for usage in (("--nonsense",), ("-e",), ("--threads", "many"), ("no_such_file.td",), (".",)):
        code, out, err = run(program, home, *usage)
        assert code == 2 and out == "" and err, (usage, code, out, err)
    equal(run(program, home, "--version")[0], 0)
    assert "usage" in run(program, home, "--help")[1]
    (home / "a.td").write_text("args; print(args[0], len(args))\n")
    equal(run(program, home, "a.td", "one", "--two"), (0, "one 2\n", ""))
    equal(run(program, home, "-e", ":quit 9", "-e", "print(1)"), (9, "", ""))


def test_memory_limit(program, home):
    """Tensors, those kept for reuse included, stay below it; a statement that would pass it is undone."""
    code, out, err = run(program, home, "--memory", "16M", "-e", ":mem --json", "-e", "x = ones(3000000); y = ones(3000000);")
    assert '"limit":16777216,' in out, out
    assert code == 1 and "E901" in err and "limit of 16777216" in err and "--memory" in err, (code, err)
    fits = "sum(ones(3000000) + 0.5); sum(ones(3500000) + 0.5)"  # the second has no room beside what the first left
    code, out, err = run(program, home, "--memory=31M", "-e", fits, "-e", ":mem")
    assert code == 0 and out.startswith("5250000.0\n") and "limit (--memory)    3" in out, (code, out, err)
    t = Terminal(program, home, ("--no-init", "--memory", "16M"))
    t.prompt()
    t.run("x = zeros(3000000);")
    assert "limit of 16777216" in t.run("f = freeze(v -> tanh(v) * 2); f(x)")
    equal(t.run("x[7]"), "0.0")
    equal(t.leave(), 0)
    for wrong in ("", "0", "-1", "4T", "4GB", "99999999999G", "99999999999999999999999", "M"):
        code, _, err = run(program, home, "--memory", wrong, "-e", "1")
        assert code == 2 and "--memory takes" in err, (wrong, code, err)


def test_standard_input(program, home):
    equal(run(program, home, stdin=b"x = 2;\nx * 3\n"), (0, "6\n", ""))
    equal(run(program, home, stdin=b""), (0, "", ""))
    for junk in (b"\x00\xff\xfe\x00", b"\x7fELF\x02\x01\x01", b"((((", b"\x1b[31m", b"}\n" * 1000, b"(" * 100000):
        code, out, err = run(program, home, stdin=junk)
        assert code == 1 and out == "" and re.search(r"E\d+ ", err), (junk[:20], code, err)
        assert "\x1b" not in err and "\x00" not in err, "a terminal must not see it"


HOT = "g = freeze(x -> sum(tanh(x) ** 2) * 7.25); x = randn(200000); a = g(x);"
WARM = "t = time(); while time() - t < 0.5 { b = g(x) };"


def test_ctrl_c_ends_waiting_for_a_pipe(program, home):
    os.mkfifo(home / "pipe.csv")
    for args in (["-e", "load('pipe.csv')"], ["-e", "save([1, 2], 'pipe.csv')"], ["pipe.csv"], ["-e", ":run pipe.csv"]):
        child = subprocess.Popen([program, "--no-init", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=home,
                                 env={"HOME": str(home)})
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=PATIENCE)
        assert (child.returncode, out) == (130, "") and "E902" in err, (args, child.returncode, out, err)
    t = Terminal(program, home)
    t.prompt()
    t.write("load('pipe.csv')\r")
    t.expect(r"load\('pipe.csv'\)\s*\n")
    time.sleep(0.3)
    t.resize(30, 90)  # which wakes it too
    time.sleep(0.3)
    t.write("\x03")
    t.expect(r"\^Cinterrupted\s")
    t.drain()  # the prompt is drawn again for the window's new size
    equal(t.run("1 + 1"), "2")
    equal(t.leave(), 0)


def without_compiler(home, name, script=""):
    """The variable TAPEDECK_CC of a compiler that is not there, or is this script."""
    path = home / name
    if script:
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o700)
    return {"HOME": str(home), "PATH": "/usr/bin:/bin", "TAPEDECK_CC": str(path)}


def test_says_once_that_nothing_compiles(program, home):
    """As a warning behind the statement, and the program goes on."""
    junk = "while [ \"$1\" != -o ]; do shift; done\necho junk > \"$2\"\n"
    for name, script, says in (("nowhere", "", "no C compiler ("), ("bad", "echo 'x: error: bad day' >&2; exit 1", "error: bad day"),
                               ("junk", junk, "can't load a compiled kernel: ")):
        env = without_compiler(home, name, script)
        for more in ([], ["--json"]):
            command = [program, "--no-init", *more, "-e", HOT, "-e", WARM, "-e", "1", "-e", "f = freeze(x -> cos(x) * 3); f(x);",
                       "-e", WARM.replace("g(x)", "f(x)")]
            done = subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=PATIENCE, check=False, env=env)
            assert done.returncode == 0 and done.stdout.strip(), done
            lines = done.stderr.splitlines()
            equal(len(lines), 1)
            said = json.loads(lines[0])["warning"]["message"] if more else lines[0]
            assert more or said.startswith("warning: "), said
            assert says in said and "kernels are interpreted" in said and "TAPEDECK_CC" in said, said
    t = Terminal(program, home, env=without_compiler(home, "nowhere"))
    t.prompt()
    said = t.run(HOT) + t.run(WARM)
    equal(said.count("warning: no C compiler"), 1)
    equal(t.run("1 + 1"), "2")
    equal(t.leave(), 0)


def test_the_manual_knows_what_is_missing(program, home):
    """The names that it lists as not there yet are not known."""
    manual = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "manual.md").read_text()
    missing = []
    for chapter in ("Tensors, indexing, shapes", "Random numbers"):
        part = manual.split(f"\n## {chapter}\n")[1].split("\n## ")[0].split("**Not there yet.**")[1]
        for words in re.findall(r"`([a-z0-9_ \n]+)`", part.split("\n\n")[0].split(". `gelu`")[0]):
            missing += words.split()
    assert len(missing) > 30, missing
    for name in missing:
        code, _, err = run(program, home, "-e", name)
        assert code == 1 and "E201" in err, (name, err)


def test_signals_and_pipes(program, home):
    child = subprocess.Popen([program, "--no-init", "-e", "print(1)\nwhile true {}"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, cwd=home, env={"HOME": str(home)})
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=PATIENCE)
    equal((child.returncode, out), (130, b"1\n"))
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w") as full:
            done = subprocess.run([program, "--no-init", "-e", "1"], stdout=full, stderr=subprocess.PIPE, check=False,
                                  timeout=PATIENCE, env={"HOME": str(home)})
        assert done.returncode == 1 and b"E802" in done.stderr, done
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run([program, "--no-init", "-e", "1"], stdout=write_end, stderr=subprocess.PIPE, check=False,
                          timeout=PATIENCE, env={"HOME": str(home)})
    os.close(write_end)
    equal((done.returncode, done.stderr), (1, b""))


def test_the_largest_file(program, home):
    """A file beyond the size that the shell allows is refused; the session goes on and nothing is left behind."""
    for name in ("big.npy", "big.csv", "big.npy.gz"):
        script = f"save(randn(100000), '{name}')\n"
        done = subprocess.run([program, "--no-init", "-e", script], capture_output=True, cwd=home, check=False,
                              timeout=PATIENCE, env={"HOME": str(home)},
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
        assert done.returncode == 1 and b"E622" in done.stderr, (name, done)
        equal(sorted(path.name for path in home.iterdir() if "big" in path.name), [])


if __name__ == "__main__":
    sys.exit(main(globals()))
