# Prints the project's own text files below the folder $1, one per line. Sourced by the rules.
sources() {
  find "$1" \( -name build -o -name .git -o -name node_modules -o -path "$1/tests/house" -o -path "$1/third_party/*" -type d \
    -o -path "$1/apps/server/page/built" \) -prune -o -type f \
    \( -name '*.cc' -o -name '*.h' -o -name '*.cuh' -o -name '*.cmake' -o -name '*.sh' -o -name '*.js' -o -name '*.jsx' -o -name '*.ts' \
    -o -name '*.css' -o -name '*.html' -o -name CMakeLists.txt -o -path "$1/run" -o -path "$1/check" \) -print
}
