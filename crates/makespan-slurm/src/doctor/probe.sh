# Runs on each node: $1 = a folder that all nodes should see, $2 = the text in its file `token`, $3 = the number of nodes, $4 = a program.
folder=$1 token=$2 nodes=$3 program=$4
name=${SLURMD_NODENAME:-$(hostname)}
say() { echo "makespan-doctor $name $*"; }
say time "$(date +%s%N)"
[ -x "$program" ] && say program yes || say program no
if [ "$(cat "$folder/token" 2>/dev/null)" != "$token" ]; then
    say shared no
    exit 0
fi
if ! : >"$folder/here/$name"; then
    say shared readonly
    exit 0
fi
say shared yes
# Wait for all nodes: each must see the files of the others.
rounds=0
while [ "$(ls "$folder/here" | wc -l)" -lt "$nodes" ]; do
    rounds=$((rounds + 1))
    if [ $rounds -gt 300 ]; then
        say met no
        exit 0
    fi
    sleep 0.1
done
say met $rounds
say time "$(date +%s%N)"
# All nodes try to move the same files at the same time. Each file may be moved by one node only.
mkdir "$folder/of-$name"
taken=0
for file in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39; do
    mv "$folder/todo/$file" "$folder/of-$name/$file" 2>/dev/null && taken=$((taken + 1))
done
say taken $taken
say time "$(date +%s%N)"
# Report the checksum of the program, so that it can be compared.
set -- $([ -r "$program" ] && cksum <"$program")
[ -n "$2" ] && say sum "$1:$2"
exit 0
