# Completion of shelfd for fish: what is offered is asked of shelfd itself.
function __shelfd_complete
    set -l words (commandline -opc)
    set -l name $words[1]
    set -e words[1]
    set -l found ($name complete fish $words (commandline -ct) 2>/dev/null)
    if test "$found[1]" = :files
        __fish_complete_path (commandline -ct)
    else
        printf '%s\n' $found
    end
end
complete --command shelfd --no-files --arguments '(__shelfd_complete)'
