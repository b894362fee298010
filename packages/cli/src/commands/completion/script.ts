import type { Context } from '../../context.ts';
import type { Output } from '../../io/terminal.ts';
import type { Shell } from './commands.ts';

/** Prints the script of a shell: static, so that it can be kept in a file; the candidates come from `__complete`. */
export async function completion(_context: Context, _options: object, shell: string): Promise<Output> {
  const script = scripts[shell as Shell];
  return { json: { shell, script }, human: script.trimEnd() };
}

const scripts: Readonly<Record<Shell, string>> = {
  // `--flag=value` and `a@b` are three words to bash (COMP_WORDBREAKS), and one to everybody else. Bash 3.2 (macOS) must take it.
  bash: `
_sallyport() {
  local line candidate
  local -a words=()
  local i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    if [[ \${COMP_WORDS[i]} == [=@] && \${#words[@]} -gt 0 ]]; then
      words[\${#words[@]} - 1]+="\${COMP_WORDS[i]}"
    elif [[ $i -gt 1 && \${COMP_WORDS[i - 1]} == [=@] ]]; then
      words[\${#words[@]} - 1]+="\${COMP_WORDS[i]}"
    else
      words+=("\${COMP_WORDS[i]}")
    fi
  done
  local typed="\${COMP_WORDS[COMP_CWORD]}"
  [[ $typed == [=@] ]] && typed=""
  local before="\${words[\${#words[@]} - 1]%"$typed"}"
  COMPREPLY=()
  while IFS= read -r line; do
    candidate="\${line%%$'\\t'*}"
    if [[ $candidate == ":files" ]]; then
      compopt -o default 2>/dev/null
    else
      COMPREPLY+=("\${candidate#"$before"}")
    fi
  done < <(sallyport __complete -- "\${words[@]}" 2>/dev/null)
}
complete -F _sallyport sallyport
`,
  zsh: `#compdef sallyport
_sallyport() {
  local line value says
  local -a candidates
  while IFS= read -r line; do
    value="\${line%%$'\\t'*}" says="\${line#*$'\\t'}"
    if [[ $value == ":files" ]]; then
      _files
    else
      candidates+=("\${value//:/\\\\:}\${says:+:$says}")
    fi
  done < <(sallyport __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe -V 'sallyport' candidates
}
if [[ $funcstack[1] == _sallyport ]]; then _sallyport "$@"; else compdef _sallyport sallyport; fi
`,
  fish: `function __sallyport_complete
  set -l words (commandline --tokenize --cut-at-cursor --current-process)[2..-1] (commandline --current-token --cut-at-cursor)
  for line in (sallyport __complete -- $words 2>/dev/null)
    if string match --quiet ':files*' -- $line
      __fish_complete_path (commandline --current-token)
    else
      echo $line
    end
  end
end
complete --command sallyport --no-files --arguments '(__sallyport_complete)'
`,
};
