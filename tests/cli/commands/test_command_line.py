"""Options, help, versions, man pages, shell completion, colour and width."""

import fcntl
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import BAD_PLUGINS, IRIS, LLOYD, ROOT, TestCase, run, run_json

MANUAL = pathlib.Path(LLOYD).resolve().parents[1] / "apps" / "manual"
needs_manual = unittest.skipUnless(MANUAL.exists(), "a cross build writes no man pages")


def commands(*path):
    """All commands that the help lists, as lists of words."""
    text = run("help", *path).stdout
    listed = text.partition("Subcommands:")[2]
    found = []
    for name in re.findall(r"(?m)^  ([a-z-]+) ", listed):
        found += [[*path, name], *commands(*path, name)]
    return found


def long_options(*path):
    return set(re.findall(r"(?m)^  (?:-\w,)?(--[a-z-]+)", run("help", *path).stdout))


class Options(TestCase):
    def test_an_option_that_may_be_repeated_takes_one_value(self):
        self.assertEqual(run_json("fit", "-k", "3", "-b", "sequential", "-p", "layout=aos", IRIS)["clusters"], 3)
        folder = pathlib.Path(LLOYD).parent
        self.assertEqual(run_json("fit", "-k", "3", "--plugin-dir", folder, IRIS)["clusters"], 3)

    def test_unknown_options_are_named_in_the_order_typed(self):
        sentence = run("fit", "--clusterz", "3", IRIS, "--qqqq", "--sedd=4", status=2).stderr
        self.assertEqual(sentence, "lloyd: unknown options '--clusterz' (did you mean '--clusters'?), '--qqqq', "
                                   "'--sedd' (did you mean '--seed'?); 'lloyd fit --help' describes the usage\n")
        sentence = run("fit", IRIS, "first", "second", "-k", "3", status=2).stderr
        self.assertIn("unexpected argument 'first'", sentence)

    def test_options_of_other_programs_are_translated(self):
        for command, option, meant in (
                (["fit", IRIS], "--n-init", "--restarts"), (["fit", IRIS], "--n_init=5", "--restarts"),
                (["fit", IRIS], "--normalize", "--standardize"), (["fit", IRIS], "--threads", "-p threads=N"),
                (["fit", IRIS], "--n-jobs=2", "-p threads=N"), (["predict", "m.json", IRIS], "--threads", "-p threads=N"),
                (["fit", IRIS], "--n-clusters=3", "-k"), (["fit", IRIS], "--max-iter=9", "--max-iterations"),
                (["fit", IRIS], "--random-state=1", "--seed"), (["data", "info", IRIS], "--sep=;", "--delimiter"),
                (["run", "c.yaml"], "--restarts=3", "--set restarts=VALUE"),
                (["run", "c.yaml"], "-k", "--set clusters=VALUE"),
                (["run", "c.yaml"], "--threads=2", "--set backends='[openmp: {threads: N}]'"),
                (["fit", IRIS], "--clusters-k=3", "-k"), (["fit", IRIS], "--n-inits=3", "--restarts"),
                (["fit", IRIS], "--num-jobs=2", "-p threads=N"), (["fit", IRIS], "--algorithms=openmp", "--backend"),
                (["run", "c.yaml"], "--n-repeats=2", "--repeats"), (["run", "c.yaml"], "--reps=2", "--repeats"),
                (["run", "c.yaml"], "--data=x.csv", "--set dataset=VALUE"),
                (["run", "c.yaml"], "--input=x.csv", "--set dataset.file=VALUE")):
            with self.subTest(command=command[0], option=option):
                name = option.partition("=")[0]
                self.assertIn(f"lloyd: unknown option '{name}' (did you mean '{meant}'?); ",
                              run(*command, option, status=2).stderr)
        self.assertNotIn("restarts", run("data", "info", IRIS, "--n-init=2", status=2).stderr)

    def test_known_options_are_listed_once(self):
        self.assertIn("unknown option '--qqqq' (known: --help, -h, --plugin-dir, --plugin-timeout, --version); ",
                      run("help", "--qqqq", status=2).stderr)

    def test_verify_lists_its_cases(self):
        names = run("verify", "--list").stdout.splitlines()
        self.assertIn("description/info", names)
        self.assertEqual(len(names), len(set(names)))
        self.assertIn("lloyd: FILE is missing;", run("verify", status=2).stderr)
        self.assertIn("cannot be given together", run("verify", "x.so", "--list", status=2).stderr)

    def test_internal_commands_are_unknown(self):
        for arguments in (["worker"], ["worker", "--parent", "1"], ["help", "worker"]):
            with self.subTest(arguments):
                self.assertIn("unknown subcommand 'worker'", run(*arguments, status=2).stderr)


class Help(TestCase):
    def test_help_describes_any_command(self):
        self.assertEqual(run("help").stdout, run("--help").stdout)
        self.assertEqual(run("help", "fit").stdout, run("fit", "--help").stdout)
        self.assertEqual(run("help", "data", "blobs").stdout, run("data", "blobs", "--help").stdout)

    def test_options_that_may_be_repeated_show_one_value(self):
        text = run("help", "fit").stdout
        self.assertIn("--columns LIST Excludes: --drop-columns\n", text)
        self.assertNotIn(" ...", text)

    def test_help_for_an_unknown_command_names_the_nearest(self):
        self.assertIn("unknown subcommand 'fti' (did you mean 'fit'?)", run("help", "fti", status=2).stderr)
        self.assertIn("unknown subcommand 'blob' of 'data' (did you mean 'blobs'?)",
                      run("help", "data", "blob", status=2).stderr)

    def test_version_names_commit_abi_and_plugins(self):
        header = (ROOT / "core/include/lloyd/plugin/abi/abi.hpp").read_text()
        abi = ".".join(re.search(rf"kAbi{part} = (\d+)", header)[1] for part in ("Major", "Minor"))
        plugins = ", ".join(backend["name"] for backend in run_json("backends")["backends"])
        self.assertRegex(run("--version").stdout,
                         rf"^lloyd \d+\.\d+\.\d+\ncommit   (unknown|[0-9a-f]{{12,40}}(-dirty)?)\n"
                         rf"ABI      {re.escape(abi)}\nplugins  {re.escape(plugins)}\n$")
        self.assertIn("fit-throws", run("--plugin-dir", BAD_PLUGINS / "fit-throws", "--version").stdout)

    def test_backends_fit_into_100_columns(self):
        listing = run("--plugin-dir", BAD_PLUGINS / "long-summary", "backends").stdout
        self.assertIn("long-summary", listing)
        self.assertIn("every paper from which its method is taken", " ".join(listing.split()))
        self.assertLessEqual(max(map(len, listing.splitlines())), 100)


class Manual(TestCase):
    def test_every_command_has_a_man_page_with_its_options(self):
        run("man", "--output", self.folder / "pages")
        pages = {page.name: page.read_text() for page in (self.folder / "pages").iterdir()}
        paths = [[], *commands()]
        self.assertGreater(len(paths), 12)
        self.assertEqual(sorted(pages), sorted("-".join(["lloyd", *path]) + ".1" for path in paths))
        for path in paths:
            page = pages["-".join(["lloyd", *path]) + ".1"]
            self.assertEqual(page, run("man", *path).stdout)
            self.assertGreaterEqual(len(long_options(*path)), 1)
            for option in long_options(*path):
                self.assertIn(option.replace("-", "\\-"), page)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_man_pages_are_valid(self):
        for path in [[], *commands()]:
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=run("man", *path).stdout, text=True,
                                  capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), path)
            self.assertIn("It was interrupted.", done.stdout)

    def complete(self, *words, env=None):
        """What bash offers for the last of these words."""
        script = self.write("lloyd.bash", run("completion", "bash").stdout)
        done = subprocess.run(
            ["bash", "--norc", "-c", 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _lloyd; '
             'printf "%s\\n" "${COMPREPLY[@]}"', "bash", script, "lloyd", *words],
            capture_output=True, text=True, timeout=60, cwd=self.folder, env=env)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    @unittest.skipUnless(shutil.which("bash"), "bash is not installed")
    def test_bash_completes_names_of_backends(self):
        path = {**os.environ, "PATH": f"{pathlib.Path(LLOYD).resolve().parent}:{os.environ['PATH']}"}
        self.assertEqual(self.complete("fit", "--backend", "seq", env=path), ["sequential"])
        self.assertEqual(self.complete("predict", "-b", "seq", env=path), ["sequential"])

    @unittest.skipUnless(shutil.which("bash"), "bash is not installed")
    def test_bash_completes_commands_options_and_values(self):
        self.assertEqual(self.complete("fi"), ["fit"])
        self.assertEqual(sorted(self.complete("data", "")), ["blobs", "convert", "info"])
        self.assertEqual(self.complete("fit", "--clus"), ["--clusters"])
        self.assertEqual(self.complete("fit", "--plugin-d"), ["--plugin-dir"])
        self.assertEqual(self.complete("compare", "--format", "m"), ["markdown"])
        self.assertEqual(self.complete("fit", "--empty-clusters", "k"), ["keep"])
        self.assertEqual(self.complete("fit", "--dtype", ""), ["float32", "float64"])
        (self.folder / "place").mkdir()
        self.assertEqual(self.complete("--plugin-dir", "pl"), ["place"])
        self.assertEqual(self.complete("fit", "--labels", "x"), [])  # bash completes file names

    def test_every_shell_knows_all_commands_and_options(self):
        for shell in ("bash", "zsh", "fish"):
            script = run("completion", shell).stdout
            for path in commands():
                self.assertIn("/" + "/".join(path), script)
                for option in long_options(*path):
                    self.assertIn(option[2:], script)
            if shutil.which(shell):
                done = subprocess.run([shell, "-n"], input=script, text=True, capture_output=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("'tcsh' is unknown; bash, zsh, fish are possible", run("completion", "tcsh", status=2).stderr)

    @needs_manual
    def test_the_build_writes_what_is_installed(self):
        self.assertEqual((MANUAL / "man/man1/lloyd-fit.1").read_text(), run("man", "fit").stdout)
        for shell, file in (("bash", "bash-completion/completions/lloyd"), ("zsh", "zsh/site-functions/_lloyd"),
                            ("fish", "fish/vendor_completions.d/lloyd.fish")):
            self.assertEqual((MANUAL / file).read_text(), run("completion", shell).stdout)


class TerminalCase(TestCase):
    def on_terminal(self, *arguments, columns=0, **variables):
        """What the program prints to a terminal, which has no known width if `columns` is 0."""
        controller, terminal = pty.openpty()
        self.addCleanup(os.close, controller)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 0, columns, 0, 0))
        environment = {**os.environ, "TERM": "xterm", **variables}
        for variable in {"NO_COLOR", "COLUMNS"} - set(variables):
            environment.pop(variable, None)
        child = subprocess.Popen([LLOYD, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=terminal,
                                 stderr=terminal, env=environment)
        os.close(terminal)
        printed = b""
        while True:
            try:
                block = os.read(controller, 4096)
            except OSError:  # the terminal has no writer left
                break
            if not block:
                break
            printed += block
        child.wait(timeout=60)
        return printed.decode()


class Colour(TerminalCase):
    def test_failures_are_red_on_terminals_only(self):
        for arguments in (["fit", IRIS, "-k", "three"], ["fit", IRIS, "-k", "200"]):
            with self.subTest(arguments):
                self.assertIn("\x1b[31mlloyd:\x1b[0m ", self.on_terminal(*arguments))
                self.assertNotIn("\x1b", run(*arguments, status=2).stderr)

    def test_no_colour_is_respected(self):
        for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            with self.subTest(variables):
                self.assertNotIn("\x1b[31m", self.on_terminal("fit", IRIS, "-k", "three", **variables))
        self.assertIn("\x1b[31m", self.on_terminal("fit", IRIS, "-k", "three", NO_COLOR=""))

    def test_outcomes_of_verify_are_coloured(self):
        plugin = pathlib.Path(LLOYD).parent / "lloyd_sequential.so"
        self.assertIn("\x1b[32mpassed", self.on_terminal("verify", plugin, "--case", "empty/*"))


class Width(TerminalCase):
    def width(self, **terminal):
        """Width of the table of `lloyd backends` on a terminal."""
        printed = self.on_terminal("--plugin-dir", BAD_PLUGINS / "long-summary", "backends", **terminal)
        return max(len(line) for line in printed.splitlines() if not line.startswith("("))

    def test_tables_are_as_wide_as_the_terminal(self):
        self.assertLessEqual(self.width(columns=70), 70)
        self.assertTrue(100 < self.width(columns=140) <= 140)
        self.assertTrue(70 < self.width(columns=0) <= 100)
        self.assertTrue(100 < self.width(columns=70, COLUMNS="140") <= 140)
        self.assertLessEqual(self.width(columns=70, COLUMNS="wide"), 70)

    def test_tables_are_at_least_60_columns_wide(self):
        self.assertTrue(50 < self.width(columns=20) <= 60)


if __name__ == "__main__":
    unittest.main()
