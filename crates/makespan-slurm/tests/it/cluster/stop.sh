# Stops the test cluster in the folder $1 when standard input closes, which happens when the test process ends in any way.
cat >/dev/null
folder=$1
ids=$(cat "$folder"/pid/slurm* 2>/dev/null)
# Jobs and their steps inherit the variable with the cluster's configuration, which no other process on this machine has.
of_cluster() { grep -lszxF "SLURM_CONF=$folder/slurm.conf" /proc/[0-9]*/environ | cut -d/ -f3 | grep -vx $$; }
[ -n "$ids" ] && kill $ids 2>/dev/null
rounds=0
while [ $rounds -lt 40 ] && kill -0 $ids 2>/dev/null; do
    rounds=$((rounds + 1))
    sleep 0.05
done
left=$(of_cluster)
[ -n "$left" ] && kill -9 $left 2>/dev/null
# Stop the database of slurmdbd, if there is one, after slurmdbd has written its data.
kill "$(cat "$folder/pid/mariadbd" 2>/dev/null)" 2>/dev/null
# Stop munged last, because steps wait forever for a munged that has stopped.
kill "$(cat "$folder/pid/munged" 2>/dev/null)" 2>/dev/null
rm -rf "$folder"
exit 0
