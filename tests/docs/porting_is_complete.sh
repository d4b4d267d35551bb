# docs/porting.md of project $1 lists each source file that depends on the operating system: one that includes a header of POSIX or
# Linux, calls a function of POSIX that other headers declare, or names a path below /proc, /sys or /dev; and it lists no file that
# is not there.
set -eu
cd "$1"
headers='<(sys/|linux/|asm/|netinet/|arpa/|unistd|fcntl|sched|signal|csignal|dlfcn|poll|termios|spawn|histedit|cpuid|pwd|pthread)(\.h)?[^>]*>'
calls='localtime_r|gmtime_r|fopencookie|fileno|fdopen|popen|mkstemp|setenv|uselocale|getauxval|strerror_r'
{
  find spectr apps lab capi python -type f \( -name '*.cc' -o -name '*.h' -o -name '*.c' \) -print0 |
    xargs -0 grep -lE "^ *# *include $headers|(^|[^a-z_])($calls) *\(|[\"/ ]/(proc|sys|dev)/[a-z]" | sort | while read -r file; do
    grep -qF "(../$file)" docs/porting.md || echo "docs/porting.md does not list $file"
  done
  grep -oE '\]\(\.\./[^)]*\)' docs/porting.md | sed 's|^](../||; s|)$||' | sort -u | while read -r file; do
    [ -e "$file" ] || echo "docs/porting.md lists $file, which does not exist"
  done
} | { ! grep .; }
