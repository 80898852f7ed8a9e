#!/bin/bash
# scripts/demo.sh: what NaMI does, in a few seconds.
set -eu
cd "$(dirname "$0")/.."
nami=build/nami out=build/demo
mkdir -p $out
bold= dim= plain=
if [ -t 1 ]; then bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'; fi
say() {
    printf '\n%s== %s%s\n' "$bold" "$1" "$plain"
    shift
    [ $# = 0 ] || printf '%s\n' "$@"
    echo
}
run() { printf '%s$ %s%s\n' "$dim" "$*" "$plain"; "$@"; }

say 'A model and its faithful inverse' \
    "The student network of the paper's Table 1: H and J are observed, the other five are to be" \
    'inferred. NaMI prints how q(z|x) must factorise, and proves it by d-separation.'
run $nami invert examples/student.json

say 'How it got there' \
    "The paper's Table 1: at every step the candidates with the edges each would add, the choice," \
    'the edges added to the induced graph J, and those added to the inverse H.'
run $nami invert examples/student.json --show trace

say 'A shortcut that is not faithful' \
    'Turning the edges round claims independences that the model does not have; the certificate' \
    'names an active trail that shows it, and the exit code is 1.'
run $nami invert examples/student.json --method reverse-edges --show inverse,certificate || true

say 'A picture: the model and its inverse side by side'
run $nami invert examples/student.json -q -o $out/student.svg,$out/student.png
ls -l $out/student.svg $out/student.png | awk '{print "  " $NF ", " $5 " bytes"}'

say 'A model with distributions' \
    "Eight schools, in the language of BUGS with Stan's distributions. The check draws from the model" \
    'itself: would data like ours be no surprise? Its picture has a node for each statement.'
run grep -v '^#' examples/models/schools.nami | grep .
run $nami check examples/models/schools.nami --data examples/models/schools.json
run $nami invert examples/models/schools.nami --data examples/models/schools.json -q -o $out/schools.svg
TIMEFORMAT='  %R s'
{ time run $nami simulate examples/models/schools.nami --data examples/models/schools.json -n 100000 \
    -o $out/draws.npz; } 2>&1

say 'An inference network for it, and a posterior' \
    'Trained on draws from the model alone, for a few seconds; then any data set is answered at once. The draws' \
    'are weighted by p(x,z)/q(z|x): k-hat and the effective number of draws say how far to trust them.'
{ time run $nami train examples/models/schools.nami --data examples/models/schools.json -o $out/schools.net \
    --steps 5000 --hidden 128,128 --quiet; } 2>&1
{ time run $nami sample $out/schools.net --data examples/models/schools.json -o $out/schools.nc; } 2>&1

say 'The same beside an exact answer' \
    'A tree of normal variables, of which the posterior is known: means, sd and log p(x) agree.'
run $nami train examples/models/tree.nami --data examples/models/tree.json -o $out/tree.net --steps 4000 --hidden 360,360 --quiet
run $nami sample $out/tree.net --data examples/models/tree.json | grep -v '^  x.[4-9]\|^  x.1[0-9]'
run $nami exact examples/models/tree.nami --data examples/models/tree.json | grep -v '^  x.[4-9]\|^  x.1[0-9]'

say 'A prior that nothing can be learnt from' \
    'The classic surgical model: half of the draws of tau underflow. The message names the prior, and a better one.'
run $nami check tests/models/bugs/surgical/surgical.bug --data tests/models/bugs/surgical/surgical-data.R || true

say 'A hidden Markov model with a million nodes' \
    'Its inverse has too many edges to list, so it is stored as a few runs for each factor; 200' \
    'factors are checked, each against the whole model.'
awk 'BEGIN { for (t = 1; t <= 500000; t++) { if (t > 1) print "z" t - 1, "z" t; print "z" t, "x" t } }' >$out/hmm.txt
TIMEFORMAT='             %R s: reading, inverting, checking, printing'
{ time run $nami invert $out/hmm.txt --observe sinks --mode reverse --verify sample \
    --show model,order,certificate; } 2>&1 | grep -v '^ *\(order .*\)\?z[0-9]' # not the order itself

say 'Next' '  build/nami invert --help    the options' \
    '  build/nami list dists       the distributions of the model language' \
    '  README.md                   the rest'
