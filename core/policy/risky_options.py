"""Options with which programs run others, write files that they are not known for, or work elsewhere: plain data."""

from __future__ import annotations

_COMPILER = ("-wrapper", "-fplugin", "-B", "-specs", "--specs", "-Xlinker", "-plugin", "-load")
OPTIONS: dict[str, tuple[str, ...]] = {
    "git": (
        *("-c", "-C", "--git-dir", "--work-tree", "--exec-path", "--config-env", "--namespace", "--output", "--exec"),
        *("-O", "--open-files-in-pager", "--upload-pack", "--receive-pack", "--ext-diff", "--textconv", "--template"),
        *("--output-directory", "--no-index", "--extcmd"),
    ),
    "npm": ("--prefix", "-C", "--script-shell", "--node-options", "--globalconfig", "--userconfig"),
    "pnpm": ("--dir", "-C", "--script-shell", "--shell-emulator"),
    "yarn": ("--cwd", "--script-shell"),
    "make": ("-f", "--file", "--makefile", "-C", "--directory", "--eval", "-I", "--include-dir", "-e"),
    "cargo": ("--config", "--manifest-path", "-C", "--target-dir", "--artifact-dir", "-Z"),
    "go": (
        *("-C", "-exec", "-toolexec", "-modfile", "-overlay", "-o", "-vettool", "-ldflags", "-gcflags", "-asmflags"),
        *("-cpuprofile", "-memprofile", "-blockprofile", "-mutexprofile", "-coverprofile", "-trace", "-outputdir"),
    ),
    "pytest": (
        *("-p", "-c", "-o", "--rootdir", "--confcutdir", "--override-ini", "--basetemp", "--pdbcls", "--config-file"),
    ),
    "find": ("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"),
    "fd": ("-x", "-X", "--exec", "--exec-batch"),
    "tar": (
        *("--checkpoint-action", "--to-command", "--use-compress-program", "--info-script", "--rsh-command"),
        *("--new-volume-script", "--rmt-command"),
    ),
    "rsync": ("--rsh", "--rsync-path"),
    "sort": ("--output", "--compress-program", "--temporary-directory"),
    "tree": ("-o", "-R"),
    "date": ("-s", "--set"),
    "rg": ("--pre", "--hostname-bin", "--search-zip"),
    "curl": (
        *("--config", "--output", "--output-dir", "--remote-name", "--remote-name-all", "--remote-header-name"),
        *("--cookie-jar", "--dump-header", "--trace", "--trace-ascii", "--stderr", "--libcurl", "--hsts", "--alt-svc"),
        *("--etag-save", "--upload-file", "--form", "--netrc-file", "--proto-default"),
    ),
    "wget": (
        *("--output-document", "--use-askpass", "--execute", "--config", "--directory-prefix", "--output-file"),
        *("--append-output", "--input-file", "--post-file", "--body-file", "--save-cookies", "--warc-file"),
    ),
    "zip": ("-TT", "--unzip-command"),
    "man": ("--pager", "--html", "--config-file"),
    "less": ("--lesskey-file", "--log-file", "--lesskey-src", "--lesskey-content"),
    "vim": ("-e", "-E", "-c", "--cmd", "-S", "-u", "-s", "-w", "-W"),
    "bat": ("--pager", "--config-file"),
    "ag": ("--pager",),
    "delta": ("--pager",),
    "fzf": ("--preview", "--bind", "--history", "--listen"),
    "gcc": _COMPILER,
    "g++": _COMPILER,
    "cc": _COMPILER,
    "clang": _COMPILER,
}
GIT_COMMANDS: dict[str, tuple[str, ...]] = {
    "clone": ("-u",),
    "rebase": ("-x",),
    "difftool": ("-x", "-t", "--tool"),
    "mergetool": ("-t", "--tool"),
    "archive": ("-o",),
    "format-patch": ("-o",),
    "grep": ("-f",),
}
"""The same for single commands of git's."""
LETTERS = {
    "sort": "oT",
    "tar": "IF",
    "rsync": "e",
    "fd": "xX",
    "ssh": "oFE",
    "scp": "oFSD",
    "curl": "oOKcDTFJ",
    "wget": "OPoaie",
    "man": "PHC",
    "less": "oOkK",
    "rg": "z",
    "tree": "oR",
}
"""Letters of short options, which may stand together (`-ro`)."""
VALUED = {
    "curl": "AbCdEeHmPQrtuUwXxyYz",
    "sort": "kStt",
    "tar": "fCTXbLgNKVH",
    "ssh": "bBcDeiIJlLmpQRSwW",
    "scp": "cilPJX",
    "wget": "tTQUABDIXlwR",
    "rsync": "BfMT",
    "rg": "ABCEMTdefgjmrt",
    "man": "LmMSsRep",
    "less": "bhjpPtTxyz#",
    "tree": "LPIHT",
    "fd": "eEdtSg",
}
"""Letters behind which the rest of the word is a value."""
