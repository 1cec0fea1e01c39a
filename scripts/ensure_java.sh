#!/bin/sh
# Ends well if Java 17 or newer is there; installs it with apt where that needs no password.
#
#   scripts/ensure_java.sh             check, install if missing
#   scripts/ensure_java.sh --dry-run   check, print the commands that would install it
set -eu

OLDEST=17
# Debian 12 and Ubuntu have 17, Debian 13 has only 21; Spark runs on both
PACKAGES="openjdk-17-jre-headless openjdk-21-jre-headless"

dry_run=no
[ "${1:-}" = --dry-run ] && dry_run=yes

say() {
    echo "java: $*" >&2
}

# Prints the Java that Spark would start: that of JAVA_HOME, else that of PATH.
java_command() {
    echo "${JAVA_HOME:+$JAVA_HOME/bin/}java"
}

# Prints the major version of a java command; 0 if there is none or it does not run.
java_version() {
    line=$("$1" -version 2>&1 | sed -n 's/^.*version "\([0-9]*\).*$/\1/p') || true
    echo "${line:-0}"
}

is_enough() {
    [ "$(java_version "$(java_command)")" -ge "$OLDEST" ]
}

# Prints what runs a command as root without asking: nothing at all, or sudo.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        echo
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        echo sudo -n
    else
        return 1
    fi
}

run() {
    if [ $dry_run = yes ]; then
        echo "$*"
    else
        # apt speaks much; what it said matters only if it fails
        output=$("$@" 2>&1) || { echo "$output" >&2; return 1; }
    fi
}

install() {
    root=$1  # nothing, or a command with arguments: unquoted below, so that it splits
    run $root apt-get update -qq || return 1
    for package in $PACKAGES; do
        say "installing $package"
        run $root env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends "$package" && return 0
    done
    return 1
}

is_enough && exit 0

advice="install Java $OLDEST or newer (Debian, Ubuntu: apt-get install openjdk-17-jre-headless) or set JAVA_HOME to it."
if [ -n "${JAVA_HOME:-}" ]; then
    say "JAVA_HOME is $JAVA_HOME, which has no Java $OLDEST or newer; $advice"
    exit 1
fi
if ! command -v apt-get >/dev/null || ! root=$(as_root); then
    say "no Java $OLDEST or newer here, and no way to install it without a password; $advice"
    exit 1
fi
if ! install "$root"; then
    say "apt-get could not install it; $advice"
    exit 1
fi
if [ $dry_run = no ] && ! is_enough; then
    say "an older Java comes first in PATH; $advice"
    exit 1
fi
