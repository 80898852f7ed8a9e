#!/bin/bash
# Answers many data sets with a trained network, by 32 processes into one file:
#
#     sbatch examples/slurm/sample.sh net.safetensors data.json draws.nc [OPTION]...
#
# The file is that of 'nami sample' with the same options, byte for byte. It has its name when it is complete.
#SBATCH --job-name=nami-sample
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=16
#SBATCH --cpus-per-task=1
#SBATCH --time=02:00:00
set -u
net=${1:?file of the network} data=${2:?data sets} out=${3:?file of the draws}
shift 3
srun nami-mpi sample "$net" --data "$data" -o "$out" "$@"
