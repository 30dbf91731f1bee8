"""Scripts that complete commands and flags in bash, zsh and fish, from the argument parser.

The scripts hold the words themselves. Typer's own completion would start Python for every Tab, half a second each.
"""

from __future__ import annotations

from enum import StrEnum

from privet.cli.tree import Command, Parameter
from privet.recipes.registry import ALL


class Shell(StrEnum):
    """A shell that can complete."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def completion_script(root: Command, shell: Shell) -> str:
    """The script of a shell."""
    return {Shell.bash: bash, Shell.zsh: zsh, Shell.fish: fish}[shell](root)


def bash(root: Command) -> str:
    """For ``~/.bashrc``: the words that may follow, by the command so far; files for everything else."""
    cases = "".join(f'    "{one.name}") words="{" ".join(_words(one))}" ;;\n' for one in root.walk())
    choices = _choices(root, 'COMPREPLY=($(compgen -W "{}" -- "$word"))')
    known = " ".join(f'"{one.name}"' for one in root.walk())
    return f"""# Completion of privet for bash: eval "$(privet completion bash)"
_privet() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" command=privet known part words
  for part in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    for known in {known}; do
      if [ "$command $part" = "$known" ]; then command="$known"; break; fi
    done
  done
  case "$command ${{COMP_WORDS[COMP_CWORD-1]}}" in
{choices}  esac
  case "$command" in
{cases}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -o bashdefault -F _privet privet
"""


def zsh(root: Command) -> str:
    """For a folder of ``fpath``, as ``_privet``, or for ``~/.zshrc``."""
    cases = "".join(f"    '{one.name}')\n{_zsh_case(one)}      ;;\n" for one in root.walk())
    known = " ".join(f"'{one.name}'" for one in root.walk())
    return f"""#compdef privet
# Completion of privet for zsh: eval "$(privet completion zsh)", or a file _privet in a folder of fpath.
_privet() {{
  local command=privet part
  local -a known=({known}) found
  for part in ${{words[2,CURRENT-1]}}; do
    if (( ${{known[(Ie)$command $part]}} )); then command="$command $part"; fi
  done
  case "$command $words[CURRENT-1]" in
{_choices(root, "compadd -- {}")}  esac
  case $command in
{cases}  esac
  if (( $#found )) && [[ $PREFIX == -* || $command == privet || -n ${{known[(r)$command *]}} ]]; then
    _describe "$command" found
  else
    _files
  fi
}}
if [[ $funcstack[1] == _privet ]]; then _privet "$@"; else compdef _privet privet; fi  # the first Tab loads a file
"""


def fish(root: Command) -> str:
    """For ``~/.config/fish/completions/privet.fish``."""
    known = " ".join(f"'{one.name}'" for one in root.walk())
    lines = [
        f"""# Completion of privet for fish: privet completion fish > ~/.config/fish/completions/privet.fish
function __privet_at -d 'Whether the words so far are a command'
    set -l command privet
    for part in (commandline -opc)[2..]
        contains -- "$command $part" {known}; and set command "$command $part"
    end
    test "$command" = "$argv"
end"""
    ]
    for one in root.walk():
        for below in one.subcommands:
            about = _quoted(_short(below.help))
            lines.append(f"complete -c privet -f -n '__privet_at {one.name}' -a {below.words[-1]} -d {about}")
        for option in one.options:
            lines.append(f"complete -c privet -n '__privet_at {one.name}' {_fish_option(option)}")
    return "\n".join(lines) + "\n"


def _choices(root: Command, offer: str) -> str:
    """Cases of bash and zsh: after a flag with a list of values, offer these and no more."""
    return "".join(
        f'    "{one.name} {flag}") {offer.format(" ".join(_values(option)))}; return ;;\n'
        for one in root.walk()
        for option in one.options
        for flag in option.flags
        if _values(option)
    )


def _values(option: Parameter) -> tuple[str, ...]:
    return option.choices or (tuple(ALL) if "--recipe" in option.flags else ())


def _words(command: Command) -> list[str]:
    below = [one.words[-1] for one in command.subcommands]
    return [*below, *(flag for option in command.options for flag in option.flags), "--help"]


def _zsh_case(command: Command) -> str:
    pairs = [(one.words[-1], one.help) for one in command.subcommands]
    pairs += [(flag, option.help) for option in command.options for flag in option.flags]
    rows = "".join(f"        {_quoted(name + ':' + _short(about).replace(':', ';'))}\n" for name, about in pairs)
    return f"      found=(\n{rows}      )\n"


def _fish_option(option: Parameter) -> str:
    spelt = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags)
    values = " ".join(_values(option))
    takes = f" -x -a {_quoted(values)}" if values else " -r" if option.takes else ""
    return f"{spelt}{takes} -d {_quoted(_short(option.help))}"


def _short(text: str) -> str:
    """The first sentence."""
    return text.partition("\n")[0].partition(". ")[0].rstrip(".")


def _quoted(text: str) -> str:
    """A word in single quotes, which all three shells read alike if it has no quote inside."""
    return "'" + text.replace("\\", "").replace("'", "’") + "'"
