#!/bin/sh
# Build lmplz, KenLM's estimator of n-gram models, from the source distribution of the kenlm package, and put it where
# paraform looks for it: beside the Python that runs paraform.
#
#     sudo apt-get install cmake g++ make libboost-program-options-dev libboost-system-dev libboost-test-dev \
#       libboost-thread-dev zlib1g-dev
#     tools/build_lmplz.sh [PYTHON]        PYTHON: .venv/bin/python unless said
set -eu

version=0.3.0
python=${1:-.venv/bin/python}
target=$("$python" -c 'import os, sys; print(os.path.dirname(sys.executable))')
for command in cmake g++ make; do
  command -v "$command" >/dev/null || { echo "build_lmplz: no $command; see the first lines of $0" >&2; exit 2; }
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m pip download --quiet --no-deps --no-build-isolation --no-binary kenlm --dest "$folder" "kenlm==$version"
tar -xzf "$folder/kenlm-$version.tar.gz" -C "$folder"
cmake -S "$folder/kenlm-$version" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release
cmake --build "$folder/build" --target lmplz --parallel
cp "$folder/build/bin/lmplz" "$target/lmplz.unfinished"
mv "$target/lmplz.unfinished" "$target/lmplz"
echo "$target/lmplz"
