// Each script asks the program for the candidates of the last word, and completes file names if there are none. Nothing that
// was typed is evaluated.

const bash = `_animal_store() {
  local IFS=$'\\n'
  COMPREPLY=($(animal-store complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
}
complete -o default -F _animal_store animal-store
`;

const zsh = `#compdef animal-store
_animal_store() {
  local -a found
  found=(\${(f)"$(animal-store complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  found=(\${found//$'\\t'/:})
  if (( $#found )); then _describe 'animal-store' found; else _files; fi
}
if [ "$funcstack[1]" = _animal_store ]; then _animal_store "$@"; else compdef _animal_store animal-store; fi
`;

const fish = `function __animal_store_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l found (animal-store complete -- $words[2..-1] "$current" 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path "$current"
  end
end
complete --command animal-store --no-files --arguments '(__animal_store_complete)'
`;

/** The completion scripts by shell. */
export const SCRIPTS: Readonly<Record<string, string>> = { bash, zsh, fish };
