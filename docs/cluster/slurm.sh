#!/bin/bash
#SBATCH --job-name=odes
#SBATCH --array=0-15
#SBATCH --cpus-per-task=8
# Runs "odes ARGUMENTS" with all tasks of this array as workers. Task 0 keeps the queue and asks:
#
#     sbatch --array=0-15 slurm.sh ensemble model.ode -n 1000000 -o out.parquet
#
# The folder must be one that all nodes see. To go on after the time of the job is over, submit the same again.
set -eu
odes=${ODES:-odes}
port=${ODES_PORT:-$((20000 + SLURM_ARRAY_JOB_ID % 20000))}
folder=odes-queue-$SLURM_ARRAY_JOB_ID
address=$folder.address
threads=${SLURM_CPUS_PER_TASK:-1}

if [ "$SLURM_ARRAY_TASK_ID" -eq 0 ]; then
	umask 077 # the token below lets workers in
	ODES_NATS_TOKEN=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
	export ODES_NATS_TOKEN
	"$odes" queue serve -q --listen "0.0.0.0:$port" --folder "$folder" &
	server=$!
	printf 'nats://%s:%s %s\n' "$(hostname)" "$port" "$ODES_NATS_TOKEN" > "$address.new"
	mv "$address.new" "$address"
	sleep 1
	"$odes" worker -q --nats "nats://127.0.0.1:$port" --threads "$threads" &
	worker=$!
	status=0
	"$odes" "$@" --workers "nats://127.0.0.1:$port" || status=$?
	rm -f "$address"
	kill "$worker" "$server"
	wait || true
	rm -rf "$folder"
	scancel "$SLURM_ARRAY_JOB_ID" # the other tasks have nothing left to do
	exit "$status"
fi

until [ -s "$address" ]; do sleep 1; done
read -r url ODES_NATS_TOKEN < "$address"
export ODES_NATS_TOKEN
exec "$odes" worker -q --nats "$url" --threads "$threads"
