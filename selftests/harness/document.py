# SPDX-License-Identifier: GPL-2.0
"""document.py PAGE.rst: does what a reader of the page does, in the current directory.

A block of code with a caption is a file: it is written. In a block "console", lines that begin
with "# " are commands, which go to one shell. The other lines are what the command before them
prints, where "..." stands for any text. A command that prints nothing must succeed.
"""
import os
import re
import select
import subprocess
import sys
import time

BLOCK = re.compile(r"\.\. code-block:: (\w+)\n((?:   :.*\n)*)\n((?:(?:   .*)?\n)+)")
CAPTION = re.compile(r"   :caption: (\S+)\n")
# What the shell says of its jobs.
JOBS = re.compile(r"^.*: line \d+: +\d+ Terminated.*\n", re.MULTILINE)
MARK = "-- the command has ended: "
TIMEOUT = 60 * int(os.environ.get("MRPC_TIME_SCALE", "1"))


def blocks(text):
    """Each block: the number of its first line, its language, its caption or None, its content."""
    for found in BLOCK.finditer(text):
        caption = CAPTION.match(found[2])
        content = re.sub(r"^   ", "", found[3].rstrip("\n") + "\n", flags=re.MULTILINE)
        yield (text.count("\n", 0, found.start(3)) + 1, found[1], caption and caption[1], content)


def commands(first, content):
    """Each command of a session: the number of its line, the command, what it prints."""
    command = []
    for number, line in enumerate(content.splitlines(), first):
        if command and command[1].endswith("\\"):
            command[1] += "\n" + line
        elif line.startswith("# "):
            if command:
                yield command
            command = [number, line[2:], ""]
        else:
            command[2] += line + "\n"
    yield command


class Shell:
    def __init__(self):
        self.bash = subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT)

    def run(self, command):
        """What the command prints, and its status: None if it takes too long."""
        self.bash.stdin.write(("{ %s\n} </dev/null\nprintf '\\n%s%%d\\n' $?\n" %
                               (command, MARK)).encode())
        self.bash.stdin.flush()
        said = b""
        end = time.monotonic() + TIMEOUT
        while True:
            ended = re.search(("\n%s(\\d+)\n" % MARK).encode(), said)
            if ended:
                return JOBS.sub("", said[:ended.start()].decode()), int(ended[1])
            ready = select.select([self.bash.stdout], [], [], max(0, end - time.monotonic()))[0]
            more = os.read(self.bash.stdout.fileno(), 65536) if ready else b""
            if not more:
                return said.decode(), None
            said += more


def judge(expected, said, status):
    """What is wrong, or None."""
    if status is None:
        return "it does not end"
    pattern = ".*".join(re.escape(part) for part in expected.rstrip("\n").split("..."))
    if not re.fullmatch(pattern, said.rstrip("\n"), re.DOTALL):
        return "it prints something else"
    # wait(1) has the status of a job that was killed.
    if not expected and 0 < status <= 128:
        return "it ends with %d" % status
    return None


def main(page):
    shell = Shell()
    done = 0
    for first, language, caption, content in blocks(open(page).read()):
        if caption:
            open(caption, "w").write(content)
            continue
        if language != "console":
            continue
        for number, command, expected in commands(first, content):
            print("# %d: %s" % (number, command.replace("\n", "\n#    ")), flush=True)
            began = time.monotonic()
            said, status = shell.run(command)
            print("#    %.1f s" % (time.monotonic() - began), flush=True)
            wrong = judge(expected, said, status)
            if wrong:
                sys.exit("# %s:%d: %s. The page:\n%sThe command:\n%s" %
                         (page, number, wrong, expected, said))
            done += 1
    assert done, "the page has no commands"


main(sys.argv[1])
