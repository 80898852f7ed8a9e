#!/bin/bash
# Trains an inference network on 4 nodes with 16 processes each, and goes on after the time limit:
#
#     sbatch examples/slurm/train.sh model.nami net.safetensors [OPTION]...
#
# Slurm warns the job (SIGTERM to all processes) two minutes before the end; the training saves a checkpoint and stops,
# and the job is put in the queue again. The result does not depend on when it was interrupted, nor on the number of
# processes: --ntasks may be changed at any time, as long as there are at most as many as --parts.
#SBATCH --job-name=nami-train
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=16
#SBATCH --cpus-per-task=1
#SBATCH --time=04:00:00
#SBATCH --signal=TERM@120
#SBATCH --requeue
#SBATCH --open-mode=append
set -u
model=${1:?model file} net=${2:?file of the network}
shift 2

srun nami-mpi train "$model" -o "$net" --batch 4096 --parts 64 --resume --save 300 "$@"
code=$?
if [ $code = 3 ] && [ -s "$net" ]; then # it was stopped, and there is a checkpoint
    scontrol requeue "$SLURM_JOB_ID"
fi
exit $code
