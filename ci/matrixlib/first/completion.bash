_ci_matrix() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb="" at options=""
    for ((at = 1; at < COMP_CWORD; at++)); do
        case ${COMP_WORDS[at]} in
            --project) ((at++)) ;;
            -*) ;;
            *) verb=${COMP_WORDS[at]} && break ;;
        esac
    done
    case $verb in
{options}
    esac
    case "$verb $before" in
        *" --project") COMPREPLY=($(compgen -d -- "$word")) ;;
        *" --report" | report* | compare*) COMPREPLY=($(compgen -f -W "$options" -- "$word")) ;;
        *" -l" | *" --label") COMPREPLY=($(compgen -W "smoke full nightly" -- "$word")) ;;
        *" -a" | *" --axis") COMPREPLY=($(compgen -W "{axes}" -- "$word")) ;;
        *" --step") COMPREPLY=($(compgen -W "{steps}" -- "$word")) ;;
        " "*) COMPREPLY=($(compgen -W "{verbs} --project" -- "$word")) ;;
        *) COMPREPLY=($(compgen -W "{cells} $options" -- "$word")) ;;
    esac
}
complete -F _ci_matrix matrix
