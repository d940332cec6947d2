# Stops a cluster of tests, $1 = its folder, when standard input closes: at the end of the test process, however it ends.
cat >/dev/null
folder=$1
ids=$(cat "$folder"/pid/slurm* 2>/dev/null)
# Jobs and their steps inherit the configuration of their cluster, and nothing else on this machine has it.
of_cluster() { grep -lszxF "SLURM_CONF=$folder/slurm.conf" /proc/[0-9]*/environ | cut -d/ -f3 | grep -vx $$; }
[ -n "$ids" ] && kill $ids 2>/dev/null
rounds=0
while [ $rounds -lt 40 ] && kill -0 $ids 2>/dev/null; do
    rounds=$((rounds + 1))
    sleep 0.05
done
left=$(of_cluster)
[ -n "$left" ] && kill -9 $left 2>/dev/null
# Steps wait for ever for a munged that went before them.
kill "$(cat "$folder/pid/munged" 2>/dev/null)" 2>/dev/null
rm -rf "$folder"
exit 0
