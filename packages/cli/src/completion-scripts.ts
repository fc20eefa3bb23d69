/**
 * The scripts by shell. Each asks `tenon completion -- <words>`, so it knows all commands, options and names of the installed version.
 * Words stay quoted: names come from a server.
 */
export const completionScripts = {
  bash: `# Completion of tenon for bash.
_tenon() {
  local i word cur quote="" line value
  local words=()
  # bash splits words at "=", ":" and "@" too: join them again.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if ((\${#words[@]} > 0)) && [[ $word =~ ^[=:@]+$ || ( $i -gt 1 && \${COMP_WORDS[i - 1]} =~ ^[=:@]+$ ) ]]; then
      words[\${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
  done
  for i in "\${!words[@]}"; do
    word=\${words[i]}
    quote=""
    case $word in [\\"\\']*) quote=\${word:0:1} ;; esac
    word=\${word#"$quote"}
    [[ -n $quote ]] && word=\${word%"$quote"}
    words[i]=\${word//\\\\/}
  done
  cur=\${words[\${#words[@]} - 1]}
  # bash replaces only what follows the last of these, and a "@" with it.
  local breaks=\${COMP_WORDBREAKS//[^=:@]/} prefix=""
  [[ -n $breaks && -z $quote ]] && prefix=\${cur%"\${cur##*[$breaks]}"}
  prefix=\${prefix%@}
  COMPREPLY=()
  while IFS= read -r line; do
    value=\${line%%$'\\t'*}
    [[ $value == *@ ]] && compopt -o nospace 2>/dev/null
    value=\${value#"$prefix"}
    if [[ -z $quote ]]; then
      printf -v value %q "$value"
      value=\${value//\\\\@/@}
    elif [[ $value == *[\\"\\'\\\\\\$\\\`!]* ]]; then
      continue
    fi
    COMPREPLY+=("$value")
  done < <(tenon completion -- "\${words[@]}" 2>/dev/null)
}
complete -o default -F _tenon tenon
`,
  zsh: `#compdef tenon
# Completion of tenon for zsh.
_tenon() {
  local line value tab=$'\\t'
  local -a values shown
  for line in "\${(@f)$(tenon completion -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z $line ]] && continue
    value=\${line%%$tab*}
    values+=("$value")
    shown+=("$value  \${line#*$tab}")
  done
  if (( \${#values} == 0 )); then
    _files
  elif [[ \${values[1]} == *@ ]]; then
    compadd -S '' -l -d shown -a values
  else
    compadd -l -d shown -a values
  fi
}
if [[ \${funcstack[1]} == _tenon ]]; then
  _tenon "$@"
else
  compdef _tenon tenon
fi
`,
  fish: `# Completion of tenon for fish.
function __tenon_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l found (tenon completion -- $words[2..-1] "$current" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c tenon -f -k -a '(__tenon_complete)'
`,
} as const;
