# lazaret: completion for fish. The program itself says what can stand where.
function __lazaret_complete
    set -l last (commandline -ct)
    set -q last[1]; or set last ''
    for found in (lazaret completions fish -- (commandline -opc) $last 2>/dev/null)
        if string match -q -- \t'*' $found
            __fish_complete_path $last
        else
            printf '%s\n' $found
        end
    end
end
complete -c lazaret -k -f -a '(__lazaret_complete)'
