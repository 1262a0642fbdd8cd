"""Runs recorded sessions of tapedeck and compares every byte of what it prints.

    sessions.py [--update] PROGRAM NAME.td     a program run as a file
    sessions.py [--update] PROGRAM NAME.md     what a document shows, typed at the prompt
    sessions.py --selftest                     checks that this runner notices each kind of difference

A golden session NAME.td has beside it NAME.out, what it prints, and where they are not empty or 0: NAME.err, its
diagnostics; NAME.status, its exit status; NAME.args, the command line, where {} stands for the file and <{} feeds it
as standard input ("{}" when there is no such file); NAME.in, its standard input.

In a document every fenced block marked ```tapedeck is a session. A line that starts with "> " is typed, lines that start with
". " continue it, and what follows until the next "> " is what the screen shows. The blocks of one document are one
session; ```tapedeck fresh starts a new one.

Where numbers differ from run to run (times, say), a .td file whose first line is "# golden: numbers vary", or a block
marked ```tapedeck varies, is compared with every number replaced by # and runs of spaces by one.

--update writes what the program printed into the files instead of comparing."""

import difflib
import os
import pathlib
import pty
import re
import select
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS_PER_RUN = 240
PROMPT, CONTINUED = "> ", ". "


def environment(home, program):
    """The same for everyone: no colours, no start-up files, a cache that the tests of one build share."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "LC_"))}
    cache = pathlib.Path(program).resolve().parent / "test-cache"
    env.update(HOME=str(home), XDG_CACHE_HOME=str(cache), LANG="C.UTF-8", LC_ALL="C.UTF-8", TZ="UTC", TERM="dumb",
               NO_COLOR="1", COLUMNS="80", LINES="24", INPUTRC="/dev/null")
    return env


def working_folder(temporary):
    """A folder to write into, from where the documents' and the tests' files have the paths they have at the root."""
    here = pathlib.Path(temporary) / "work"
    here.mkdir()
    for name in ("docs", "tests"):
        if (ROOT / name).exists():
            (here / name).symlink_to(ROOT / name)
    (pathlib.Path(temporary) / "home").mkdir()
    return here, pathlib.Path(temporary) / "home"


def loose(text):
    """Numbers and the padding around them left out."""
    text = re.sub(r"(?<![A-Za-z_])-?\d+(\.\d+)?(e[-+]?\d+)?", "#", text)
    return re.sub(r" +", " ", re.sub(r"-{2,}|={2,}|█+|░+", "-", text))


def difference(what, expected, got):
    lines = difflib.unified_diff(expected.splitlines(), got.splitlines(), f"{what}: expected", f"{what}: got",
                                 lineterm="")
    return "\n".join(lines) or f"{what}: only the newline at the end differs"


# ---- golden sessions ----

def run_golden(program, source):
    args = source.with_suffix(".args")
    words = shlex.split(args.read_text()) if args.exists() else ["{}"]
    with tempfile.TemporaryDirectory() as temporary:
        here, home = working_folder(temporary)
        (here / source.name).write_bytes(source.read_bytes())
        stdin = source.with_suffix(".in").read_bytes() if source.with_suffix(".in").exists() else b""
        if "<{}" in words:
            words.remove("<{}")
            stdin = source.read_bytes()
        command = [program, "--no-init"] + [source.name if w == "{}" else w for w in words]
        done = subprocess.run(command, cwd=here, env=environment(home, program), input=stdin, capture_output=True,
                              timeout=SECONDS_PER_RUN, check=False)
    decode = lambda raw: raw.decode(errors="backslashreplace")
    return {".out": decode(done.stdout), ".err": decode(done.stderr), ".status": str(done.returncode) + "\n"}


DEFAULTS = {".out": "", ".err": "", ".status": "0\n"}


def golden(program, source, update):
    """Problems found, as texts."""
    got = run_golden(program, source)
    if update:
        for suffix, text in got.items():
            path = source.with_suffix(suffix)
            if suffix == ".out" or text != DEFAULTS[suffix]:
                path.write_text(text)
            elif path.exists():
                path.unlink()
        return []
    if not source.with_suffix(".out").exists():
        return [f"{source.stem}.out is missing: scripts/update-golden {source.stem} writes it"]
    how = loose if source.read_text().startswith("# golden: numbers vary\n") else str
    problems = []
    for suffix, text in got.items():
        path = source.with_suffix(suffix)
        expected = path.read_text() if path.exists() else DEFAULTS[suffix]
        if how(expected) != how(text):
            problems.append(difference(source.stem + suffix, how(expected), how(text)))
    return problems


# ---- documents ----

def blocks_of(lines):
    """(first line, end, marks) of the inside of every ```tapedeck block."""
    start, marks = None, None
    for i, line in enumerate(lines):
        if start is None and (m := re.fullmatch(r"```tapedeck((?: \w+)*)", line)):
            start, marks = i + 1, m[1].split()
        elif start is not None and line == "```":
            yield start, i, marks
            start = None
    if start is not None:
        raise SystemExit(f"line {start}: the block does not end")


def statements_of(lines, start, end):
    """(line number, typed lines, expected text) of a block."""
    found = []
    for i in range(start, end):
        line = lines[i]
        if line.startswith(PROMPT) or line == PROMPT.strip():
            found.append((i + 1, [line[2:]], []))
        elif not found:
            raise SystemExit(f"line {i + 1}: a session starts with a line that starts with '> '")
        elif not found[-1][2] and (line.startswith(CONTINUED) or line == CONTINUED.strip()):
            found[-1][1].append(line[2:])
        else:
            found[-1][2].append(line)
    return [(n, typed, "\n".join(expected)) for n, typed, expected in found]


class Prompt:
    """The program on a terminal of its own: 80 columns that cannot move the cursor."""

    def __init__(self, program, here, home):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(here)
                os.execve(program, [program, "--no-init"], environment(home, program))
            except OSError as e:
                os.write(2, f"{program}: {e}\n".encode())
            os._exit(127)
        self.read()

    def read(self):
        """What the screen shows up to the next prompt, that prompt."""
        shown, deadline = b"", time.monotonic() + SECONDS_PER_RUN
        while True:
            # A prompt is the last thing on the screen, and stays it.
            at_prompt = re.search(rb"(^|[\n\r])(> |\. )$", shown)
            ready, _, _ = select.select([self.fd], [], [], 0.05 if at_prompt else 1)
            if ready:
                try:
                    chunk = os.read(self.fd, 65536)
                except OSError: # the terminal's other end is closed
                    chunk = b""
                if not chunk:
                    return shown.decode(errors="backslashreplace").replace("\r", ""), None
                shown += chunk
            elif at_prompt:
                text = shown[:at_prompt.start(2)].decode(errors="backslashreplace")
                return text.replace("\r", ""), at_prompt[2].decode()
            elif time.monotonic() > deadline:
                raise SystemExit(f"no prompt after {SECONDS_PER_RUN} s; the screen shows:\n" + shown.decode(errors="replace"))

    def type(self, typed):
        """Types the lines of a statement; returns what is shown after the last and the prompt that follows."""
        for line in typed:
            os.write(self.fd, line.encode() + b"\r")
            shown, prompt = self.read()
            shown = shown.partition("\n")[2] # the terminal's echo of what was typed
            if prompt is None:
                break
        return shown, prompt

    def close(self):
        """Ctrl-D; the exit status."""
        try:
            os.write(self.fd, b"\x04")
            self.read()
        except OSError:
            pass
        os.close(self.fd)
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)


def document(program, source, update):
    lines = source.read_text().split("\n")
    problems, replaced, prompt = [], [], None
    with tempfile.TemporaryDirectory() as temporary:
        here, home = working_folder(temporary)
        for start, end, marks in blocks_of(lines):
            if prompt is None or "fresh" in marks:
                if prompt is not None:
                    prompt.close()
                prompt = Prompt(program, here, home)
            how = loose if "varies" in marks else str
            block = []
            for number, typed, expected in statements_of(lines, start, end):
                shown, after = prompt.type(typed)
                shown = shown.rstrip("\n")
                if after != PROMPT:
                    problems.append(f"{source.name}:{number}: the program " + ("ended" if after is None else
                                    "waits for the rest of the statement") + f" and showed:\n{shown}")
                    prompt.close()
                    return problems
                if how(shown) != how(expected.rstrip("\n")):
                    problems.append(difference(f"{source.name}:{number}", how(expected), how(shown)))
                block += [(PROMPT if i == 0 else CONTINUED) + t for i, t in enumerate(typed)]
                block += shown.split("\n") if shown else []
            replaced.append((start, end, block))
        status = prompt.close() if prompt else 0
    if update:
        for start, end, block in reversed(replaced):
            lines[start:end] = block
        source.write_text("\n".join(lines))
        return []
    if not replaced:
        problems.append(f"{source.name} shows no session")
    if status != 0:
        problems.append(f"{source.name}: the session ended with status {status}")
    return problems


def check(program, source, update=False):
    source = pathlib.Path(source)
    return (document if source.suffix == ".md" else golden)(str(pathlib.Path(program).resolve()), source, update)


# ---- the runner's own test ----

STAND_IN = f"#!{sys.executable} -SE\n" + '''import sys
def answer(line):
    if line == "slow": print("7 ms")
    elif line: print(line.upper())
if sys.stdin.isatty():
    while True:
        try:
            line = input("> ")
            while line.endswith("{"): line += input(". ")
        except EOFError: sys.exit(0)
        answer(line)
for line in open(sys.argv[-1]) if sys.argv[-1].endswith(".td") else sys.stdin:
    if line.startswith("fail"): sys.exit(3)
    elif line.startswith("warn"): print("careful", file=sys.stderr)
    elif not line.startswith("#"): answer(line.strip())
'''


def selftest():
    cases = [ # name, files, whether the runner should be content
        ("right output", {"a.td": "x\ny\n", "a.out": "X\nY\n"}, True),
        ("wrong output", {"a.td": "x\ny\n", "a.out": "X\nZ\n"}, False),
        ("missing output", {"a.td": "x\n", "a.out": ""}, False),
        ("no newline", {"a.td": "x\n", "a.out": "X"}, False),
        ("no recording", {"a.td": ""}, False),
        ("right diagnostics", {"a.td": "warn\n", "a.out": "", "a.err": "careful\n"}, True),
        ("wrong diagnostics", {"a.td": "warn\n", "a.out": "", "a.err": "careless\n"}, False),
        ("unexpected diagnostics", {"a.td": "warn\n", "a.out": ""}, False),
        ("right status", {"a.td": "fail\n", "a.out": "", "a.status": "3\n"}, True),
        ("wrong status", {"a.td": "fail\n", "a.out": "", "a.status": "1\n"}, False),
        ("unexpected status", {"a.td": "fail\n", "a.out": ""}, False),
        ("fed as input", {"a.td": "x\n", "a.args": "<{}", "a.out": "X\n"}, True),
        ("fed as input, wrong", {"a.td": "x\n", "a.args": "<{}", "a.out": "x\n"}, False),
        ("numbers vary", {"a.td": "# golden: numbers vary\nslow\n", "a.out": "12.5   ms\n"}, True),
        ("words do not vary", {"a.td": "# golden: numbers vary\nslow\n", "a.out": "7 us\n"}, False),
        ("numbers count", {"a.td": "slow\n", "a.out": "8 ms\n"}, False),
        ("right document", {"a.md": "# A\n```tapedeck\n> x\nX\n> y {\n. z\nY {Z\n```\n"}, True),
        ("wrong document", {"a.md": "# A\n```tapedeck\n> x\nX\n> y {\n. z\nY Z\n```\n"}, False),
        ("wrong first line", {"a.md": "```tapedeck\n> x\ny\n> z\nZ\n```\n"}, False),
        ("two blocks", {"a.md": "```tapedeck\n> x\nX\n```\nthen\n```tapedeck\n> y\nY\n```\n"}, True),
        ("wrong second block", {"a.md": "```tapedeck\n> x\nX\n```\nthen\n```tapedeck fresh\n> y\nX\n```\n"}, False),
        ("document without sessions", {"a.md": "# A\n```sh\n> x\n```\n"}, False),
        ("unfinished statement", {"a.md": "```tapedeck\n> x {\n```\n"}, False),
        ("document whose numbers vary", {"a.md": "```tapedeck varies\n> slow\n9 ms\n```\n"}, True),
        ("document whose numbers count", {"a.md": "```tapedeck\n> slow\n9 ms\n```\n"}, False),
    ]
    failed = 0
    for name, files, content in cases:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            program = folder / "stand-in"
            program.write_text(STAND_IN)
            program.chmod(0o755)
            for file, text in files.items():
                (folder / file).write_text(text)
            source = folder / ("a.md" if "a.md" in files else "a.td")
            problems = check(program, source)
            if (problems == []) != content:
                print(f"{name}: the runner found {problems or 'nothing'}")
                failed += 1
            if name not in ("wrong output", "unexpected diagnostics", "wrong status", "wrong document"):
                continue
            check(program, source, update=True)
            if check(program, source):
                print(f"{name}: what the runner recorded does not pass")
                failed += 1
    print(f"{len(cases)} cases, {failed} failed")
    return failed


def main():
    args = sys.argv[1:]
    if args == ["--selftest"]:
        return 1 if selftest() else 0
    update = args[:1] == ["--update"]
    if len(args) - update != 2:
        print(__doc__, file=sys.stderr)
        return 2
    problems = check(*args[update:], update)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
