"""The program on a pseudo terminal, and what runs the tests that drive it: prompt.py and seen.py.

Each test is a function test_...(program, home), home being an empty folder; it fails by an exception. Screens are
compared as text without the terminal's codes."""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import sys
import tempfile
import termios
import time
import traceback

PATIENCE = 60  # seconds until something that must happen has not
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x07|\r")


def set_window(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class Terminal:
    """The program on a terminal of its own."""

    def __init__(self, program, home, args=("--no-init",), term="xterm", size=(24, 80), env=None):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                set_window(0, *size)  # before the program looks
                os.chdir(home)
                whole = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "LC_", "LINES", "COLUMNS"))}
                whole.update(HOME=str(home), TERM=term, LANG="C.UTF-8", LC_ALL="C.UTF-8", INPUTRC="/dev/null")
                whole.update(env or {})
                os.execve(program, [program, *args], whole)
            except OSError as e:
                os.write(2, f"{program}: {e}\n".encode())
            os._exit(127)
        self.raw = ""
        self.status = None

    def resize(self, rows, columns):
        set_window(self.fd, rows, columns)

    def write(self, keys):
        os.write(self.fd, keys.encode())

    def screen(self):
        return CODES.sub("", self.raw)

    def expect(self, pattern, seconds=PATIENCE):
        """Reads until the screen since the last call matches; returns that part of it."""
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.screen()):
            ready, _, _ = select.select([self.fd], [], [], max(0, deadline - time.monotonic()))
            chunk = b""
            if ready:
                try:
                    chunk = os.read(self.fd, 65536)
                except OSError:  # the other end is closed
                    pass
            if not chunk:
                raise AssertionError(f"no {pattern!r} on the screen:\n{self.screen()}")
            self.raw += chunk.decode(errors="backslashreplace")
        shown, self.raw = self.screen(), ""
        return shown

    def prompt(self):
        """What is shown up to the next prompt."""
        shown = self.expect(r"(^|\n)(> |\. )$")
        return shown[:-2]

    def run(self, line):
        """Types a line; what it shows, without the echo."""
        self.write(line + "\r")
        return self.prompt().partition("\n")[2].rstrip("\n")

    def drain(self):
        """Drops what is shown until nothing comes for a while."""
        while select.select([self.fd], [], [], 0.3)[0]:
            os.read(self.fd, 65536)
        self.raw = ""

    def modes(self):
        """The terminal's modes once nothing more is shown: Readline sets its own about when it shows the prompt."""
        self.drain()
        return termios.tcgetattr(self.fd)

    def cpu(self):
        """Seconds of processor time that the program has used."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def leave(self, keys="\x04"):
        if keys:
            self.write(keys)
        deadline = time.monotonic() + PATIENCE
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
                raise AssertionError("the program does not end")
            ready, _, _ = select.select([self.fd], [], [], 0.02)
            if ready:
                try:
                    self.raw += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:
                    pass
        while select.select([self.fd], [], [], 0)[0]:  # its last words
            try:
                self.raw += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:
                break
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


def equal(got, expected):
    assert got == expected, f"got {got!r}, expected {expected!r}"


def main(functions):
    """Runs the test functions among `functions` (a module's globals), or those that the command line names."""
    program, *names = sys.argv[1:]
    program = str(pathlib.Path(program).resolve())
    tests = [(k, v) for k, v in functions.items() if k.startswith("test_") and (not names or k in names)]
    failed = 0
    for name, test in tests:
        with tempfile.TemporaryDirectory() as home:
            begin = time.monotonic()
            try:
                test(program, pathlib.Path(home))
                print(f"passed  {name}  ({time.monotonic() - begin:.1f} s)", flush=True)
            except Exception:  # pylint: disable=broad-except
                failed += 1
                print(f"FAILED  {name}\n{traceback.format_exc()}", flush=True)
    print(f"{len(tests)} tests, {failed} failed")
    return 1 if failed or not tests else 0
