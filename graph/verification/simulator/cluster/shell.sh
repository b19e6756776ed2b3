# Read by every bash of a rehearsal (BASH_ENV): the commands of a cluster that are shell functions, or must be.
case ":$PATH:" in *":$MAPLE_REHEARSAL_BIN:"*) ;; *) PATH="$MAPLE_REHEARSAL_BIN:$PATH" ;; esac

# What modules and sourced files of a site put their own folders in front of is set from there on.
maple_paths() { export PYTHONPATH="${PYTHONPATH-}" LIBRARY_PATH="${LIBRARY_PATH-}" CPATH="${CPATH-}"; }
module() { "$MAPLE_REHEARSAL_BIN/.note" module "$@"; maple_paths; }
ml() { module "$@"; }

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
    maple_paths
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

pushd() {
    builtin pushd "$@" 2>/dev/null && return
    cd "${!#}" && builtin pushd . >/dev/null
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
    "$MAPLE_REHEARSAL_BIN/.note" unknown "$@" && return 0
    echo "$1: command not found" >&2
    return 127
}

# Files that lie on the cluster alone: what copies, links or unpacks them is noted where it fails, and goes on.
maple_tolerant() {
    command "$@" 2>/dev/null && return 0
    "$MAPLE_REHEARSAL_BIN/.note" missing "$@"
    return 0
}
# A text that lies on the cluster alone reads as empty.
cat() {
    local MAPLE_WORD
    command cat "$@" 2>/dev/null && return 0
    for MAPLE_WORD in "$@"; do
        case "$MAPLE_WORD" in /*) [ -e "$MAPLE_WORD" ] || { "$MAPLE_REHEARSAL_BIN/.note" missing cat "$MAPLE_WORD"; return 0; } ;; esac
    done
    command cat "$@"
}
cp() { maple_tolerant cp "$@"; }
mv() { maple_tolerant mv "$@"; }
ln() { maple_tolerant ln "$@"; }
tar() { maple_tolerant tar "$@"; }
unzip() { maple_tolerant unzip "$@"; }
gunzip() { maple_tolerant gunzip "$@"; }
rsync() { maple_tolerant rsync "$@"; }
clear() { :; }

# A script that lies on the cluster alone.
maple_script() {
    case "${2:-}" in -* | "") command "$@"; return ;; esac
    if [ -e "$2" ]; then command "$@"; else "$MAPLE_REHEARSAL_BIN/.missing" "${@:2}"; fi
}
bash() { maple_script bash "$@"; }
sh() { maple_script sh "$@"; }

# What the script insists on finding (guards.py) is put there before it looks, and named.
maple_guard() {
    local MAPLE_ONE MAPLE_PATH
    for MAPLE_ONE in "${MAPLE_GUARDS[@]}"; do
        [[ "$1" == *"$MAPLE_ONE"* ]] || continue
        MAPLE_PATH=$(eval "printf %s ${MAPLE_ONE#-? }" 2>/dev/null)
        [[ -z "$MAPLE_PATH" || "$MAPLE_PATH" == -* || -e "$MAPLE_PATH" ]] && continue
        case "$MAPLE_ONE" in
        -d*) command mkdir -p "$MAPLE_PATH" ;;
        *)
            command mkdir -p "$(dirname "$MAPLE_PATH")"
            printf '#!/bin/sh\nexec "$MAPLE_REHEARSAL_BIN/.missing" "%s" "$@"\n' "$MAPLE_PATH" >"$MAPLE_PATH"
            command chmod +x "$MAPLE_PATH"
            ;;
        esac 2>/dev/null
        if [ -e "$MAPLE_PATH" ]; then
            "$MAPLE_REHEARSAL_BIN/.note" guard "$MAPLE_PATH"
        else
            "$MAPLE_REHEARSAL_BIN/.note" guard-missing "$MAPLE_PATH"
        fi
    done
    return 0
}
if [ -s "$MAPLE_REHEARSAL_BIN/../guards" ]; then
    mapfile -t MAPLE_GUARDS <"$MAPLE_REHEARSAL_BIN/../guards"
    set -o functrace
    trap 'maple_guard "$BASH_COMMAND" || :' DEBUG
fi
