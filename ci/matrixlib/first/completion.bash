_ci_matrix() {
    local words="{verbs}"
    [ "$COMP_CWORD" -gt 1 ] && words="{cells} --label --axis --jobs --step --last-failed --verbose"
    COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _ci_matrix matrix
