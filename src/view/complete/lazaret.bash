# lazaret: completion for bash. The program itself says what can stand where.
_lazaret() {
    local IFS=$'\n' line=${COMP_LINE:0:COMP_POINT} piece=${COMP_WORDS[COMP_CWORD]}
    local words=() count=0 i word cut found
    # Bash takes words apart at = and :, the program does not.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((i == COMP_CWORD)); then
            # Up to the cursor.
            word=${line#"${line%%[![:blank:]]*}"}
        fi
        if ((count > 0)) && [[ $line != [[:blank:]]* ]]; then
            words[count - 1]+=$word
        else
            words[count]=$word
            ((count++))
        fi
        line=${line#"${line%%[![:blank:]]*}"}
        line=${line#"$word"}
    done
    piece=$word
    [[ $piece == [=:] ]] && piece=
    word=${words[count - 1]}
    cut=${word%"$piece"}
    COMPREPLY=()
    while read -r found; do
        word=${found%%$'\t'*}
        if [[ -z $word ]]; then
            # Names of files belong here, which bash knows best.
            compopt -o default -o filenames 2>/dev/null || COMPREPLY=($(compgen -f -- "$piece"))
            return
        fi
        word=${word#"$cut"}
        [[ $word == *[!A-Za-z0-9_./:=@%+,-]* ]] && printf -v word %q "$word"
        COMPREPLY+=("$word")
    done < <(lazaret completions bash -- "${words[@]}" 2>/dev/null)
}
complete -o nosort -F _lazaret lazaret 2>/dev/null || complete -F _lazaret lazaret
