/// The shells for which there is completion.
enum Shell: String, CaseIterable {
    case bash, zsh, fish

    /// The script that the shell loads. It passes the words that have been typed so far to `scan complete`, and offers
    /// what this prints: first a line with the directives of ``CompletionAnswer``, then one candidate a line.
    ///
    /// The scripts always run the `scan` of the path, never a program at a path that is only being typed.
    var script: String {
        switch self {
        case .bash: Self.bashScript
        case .zsh: Self.zshScript
        case .fish: Self.fishScript
        }
    }

    /// `scan complete` quotes the candidates itself, because bash does not quote what a function offers. Without
    /// candidates, bash completes files (`-o default`), unless this is switched off.
    private static let bashScript = #"""
        # Completion of scan for bash, printed by 'scan completion bash'.
        _scan() {
            local -a answer
            local typed=${COMP_LINE:0:COMP_POINT}
            mapfile -t answer < <(command scan complete bash -- "$COMP_WORDBREAKS" "$typed" 2>/dev/null)
            COMPREPLY=("${answer[@]:1}")
            case " ${answer[0]-} " in
                *" files "*) ;;
                *" folders "*) compopt -o dirnames +o default +o bashdefault ;;
                *) compopt +o default +o bashdefault ;;
            esac
            case " ${answer[0]-} " in *" nospace "*) compopt -o nospace ;; esac
        }
        complete -o bashdefault -o default -o nosort -F _scan scan

        """#

    /// With `-U`, zsh offers all candidates, because `scan complete` has already chosen those that fit.
    private static let zshScript = #"""
        #compdef scan
        # Completion of scan for zsh, printed by 'scan completion zsh'.
        _scan() {
            local -a answer directives values shown options
            local line found=1
            answer=("${(@f)$(command scan complete zsh -- "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
            directives=(${=answer[1]})
            for line in "${(@)answer[2,-1]}"; do
                values+=("${line%%$'\t'*}")
                shown+=("${line/$'\t'/  -- }")
            done
            [[ $shown == *'  -- '* ]] && options+=(-l -d shown)
            (( $directives[(I)nospace] )) && options+=(-S '')
            if (( $#values )); then
                compadd -U -V scan "${options[@]}" -a values && found=0
                (( $directives[(I)loose] )) && compstate[insert]= compstate[list]='list force'
            fi
            [[ $PREFIX == --*=* ]] && (( $directives[(I)files|folders] )) && compset -P '*='
            if (( $directives[(I)folders] )); then
                _files -/ && found=0
            elif (( $directives[(I)files] )); then
                directives=(${directives:#(files|folders|nospace|loose)})
                (( $#directives )) && directives=(-g "(#i)*.(${(j:|:)directives})(-.)")
                _files "${directives[@]}" && found=0
            fi
            return found
        }
        if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _scan "$@"; else compdef _scan scan; fi

        """#

    private static let fishScript = #"""
        # Completion of scan for fish, printed by 'scan completion fish'.
        function __scan_complete
            set -l word (commandline -ct)
            set -l answer (command scan complete fish -- (commandline -opc) "$word" 2>/dev/null)
            set -l directives (string split ' ' -- $answer[1])
            set -e answer[1]
            printf '%s\n' $answer
            contains -- files $directives; or contains -- folders $directives; or return 0
            set -l option (string match -r -- '^--[^=]+=' $word)
            set -l path (string replace -r -- '^--[^=]+=' '' $word)
            if contains -- folders $directives
                __fish_complete_directories "$path" '' | string replace -r '^' -- "$option"
            else
                __fish_complete_path "$path" | string replace -r '^' -- "$option"
            end
        end
        complete -c scan -f -a '(__scan_complete)'

        """#
}
