# Read by every bash of a rehearsal (BASH_ENV): the commands of a cluster that are shell functions, or must be.
case ":$PATH:" in *":$MAPLE_REHEARSAL_BIN:"*) ;; *) PATH="$MAPLE_REHEARSAL_BIN:$PATH" ;; esac

module() { "$MAPLE_REHEARSAL_BIN/.note" module "$@"; }
ml() { "$MAPLE_REHEARSAL_BIN/.note" module "$@"; }

# conda: an environment that is not here counts as activated.
conda() {
    "$MAPLE_REHEARSAL_BIN/.note" conda "$@"
    if [ "$1" = activate ]; then export CONDA_DEFAULT_ENV="${2:-base}" CONDA_PREFIX="${2:-/opt/conda}"; fi
}
mamba() { conda "$@"; }

# A file that lies on the cluster cannot be read here: noted, and taken as fine.
source() {
    if [ -e "$1" ]; then
        local MAPLE_FILE=$1
        shift
        builtin source "$MAPLE_FILE" "$@"
        return
    fi
    "$MAPLE_REHEARSAL_BIN/.note" source "$@"
    case "$1" in */bin/activate) export VIRTUAL_ENV="${1%/bin/activate}" ;; esac
    return 0
}
# shellcheck disable=SC1090  # what is sourced is the script's choice
.() { source "$@"; }

# A folder that lies on the cluster is made here, inside the private root.
cd() {
    builtin cd "$@" 2>/dev/null && return
    local MAPLE_FOLDER="${!#}"
    "$MAPLE_REHEARSAL_BIN/.note" cd "$@"
    mkdir -p "$MAPLE_REHEARSAL_ELSEWHERE$MAPLE_FOLDER" 2>/dev/null
    builtin cd "$MAPLE_REHEARSAL_ELSEWHERE$MAPLE_FOLDER" || return
}

# Without a process space of our own, "every process" would be every process of the person.
kill() {
    local MAPLE_WORD
    for MAPLE_WORD in "${@:2}"; do
        [ "$MAPLE_WORD" = -1 ] && { "$MAPLE_REHEARSAL_BIN/.note" kill "$@"; return 1; }
    done
    builtin kill "$@"
}

command_not_found_handle() {
    "$MAPLE_REHEARSAL_BIN/.note" unknown "$@"
    echo "$1: command not found" >&2
    return 127
}
