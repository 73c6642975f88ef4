# Completion of shelfd for bash: what is offered is asked of shelfd itself.
_shelfd() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            compopt -o default 2>/dev/null
            return
        fi
        [[ -n $line ]] && COMPREPLY+=("$line")
    done < <("${COMP_WORDS[0]}" complete bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
complete -F _shelfd shelfd
