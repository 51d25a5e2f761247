#compdef lazaret
# lazaret: completion for zsh. The program itself says what can stand where.
_lazaret() {
    local found value about files=0
    local -a values shown
    for found in "${(@f)$(lazaret completions zsh -- "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
        value=${found%%$'\t'*}
        about=${found#*$'\t'}
        if [[ -z $found ]]; then
            continue
        elif [[ -z $value ]]; then
            files=1
        else
            values+=("$value")
            shown+=("$value${about:+  -- $about}")
        fi
    done
    if (( files )); then
        [[ $PREFIX == --*=* ]] && compset -P 1 '*='
        _files
    elif (( ${#values} )); then
        compadd -l -V lazaret -d shown -- "${values[@]}"
    fi
}
if [[ $funcstack[1] == _lazaret ]]; then
    _lazaret "$@"
else
    compdef _lazaret lazaret
fi
