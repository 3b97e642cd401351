_ci_matrix() {
    local parts=() word before kept option="" verb="" at options="" choices choice
    for ((at = 0; at <= COMP_CWORD; at++)); do
        # Bash takes a = for a word, and completes only what is behind it; zsh doesn't.
        if ((at > 1)) && [[ ${COMP_WORDS[at]} == "=" || ${COMP_WORDS[at - 1]} == "=" ]]; then
            parts[${#parts[@]} - 1]+=${COMP_WORDS[at]}
        else
            parts+=("${COMP_WORDS[at]}")
        fi
    done
    word=${parts[${#parts[@]} - 1]} before=${parts[${#parts[@]} - 2]} kept=${COMP_WORDS[COMP_CWORD]#=}
    kept=${word%"$kept"}
    if [[ $word == --*=* ]]; then
        before=${word%%=*} option=${word%%=*}= word=${word#*=}
    fi
    for ((at = 1; at < ${#parts[@]} - 1; at++)); do
        case ${parts[at]} in
            --project) ((at++)) ;;
            -*) ;;
            *) verb=${parts[at]} && break ;;
        esac
    done
    case $verb in
{options}
    esac
    case "$verb $before" in
        *" --project") choices=$(compgen -d -- "$word") && compopt -o filenames 2>/dev/null ;;
        *" --report" | *" --after" | report* | compare*) choices=$(compgen -f -W "$options" -- "$word") && compopt -o filenames 2>/dev/null ;;
        *" -l" | *" --label") choices=$(compgen -W "smoke full nightly" -- "$word") ;;
        *" -a" | *" --axis") choices=$(compgen -W "{axes}" -- "$word") ;;
        *" --step") choices=$(compgen -W "{steps}" -- "$word") ;;
        " "*) choices=$(compgen -W "{verbs} --project" -- "$word") ;;
        *) choices=$(compgen -W "{cells} $options" -- "$word") ;;
    esac
    COMPREPLY=()
    while IFS= read -r choice; do
        choice=$option$choice
        [ "$choice" = "$option" ] || COMPREPLY+=("${choice#"$kept"}")
    done <<<"$choices"
}
complete -F _ci_matrix matrix matrix.pyz swift-cells
