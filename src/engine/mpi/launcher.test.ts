import { expect, test } from "vitest";
import { oneProcess } from "../../base/communicator.js";
import { openCommunicator } from "./index.js";
import { launchOf } from "./launcher.js";

test.each([
	[
		{ OMPI_COMM_WORLD_SIZE: "4", OMPI_COMM_WORLD_RANK: "3" },
		{ launcher: "mpirun of Open MPI", size: 4, rank: 3, implementations: ["Open MPI"] },
	],
	[
		{ PMI_SIZE: "2", PMI_RANK: "1" },
		{ launcher: "mpirun of MPICH", size: 2, rank: 1, implementations: ["MPICH", "Open MPI"] },
	],
	[
		{ PMI_SIZE: "2", PMI_RANK: "1", SLURM_PROCID: "1", SLURM_NTASKS: "2" },
		{ launcher: "srun", size: 2, rank: 1, implementations: ["MPICH", "Open MPI"] },
	],
	[
		{ PMIX_RANK: "5", SLURM_NTASKS: "16", SLURM_STEP_NUM_TASKS: "8" },
		{ launcher: "srun", size: 8, rank: 5, implementations: ["Open MPI", "MPICH"] },
	],
	[
		{ SLURM_PROCID: "1", SLURM_NTASKS: "4", SLURM_STEP_NUM_TASKS: "4" },
		{ launcher: "srun", size: 4, rank: 1, implementations: [] },
	],
])("a launcher is known by the variables it sets: %o", (env, launch) => {
	expect(launchOf(env)).toEqual(launch);
});

test("processes that srun does not connect are not taken for one each", async () => {
	const env = { SLURM_PROCID: "1", SLURM_STEP_NUM_TASKS: "4" };
	await expect(openCommunicator(env)).rejects.toThrow(
		"srun started 4 processes, but it does not connect them; use srun --mpi=pmix or --mpi=pmi2",
	);
});

test.each([
	[{}],
	[{ SLURM_PROCID: "0", SLURM_NTASKS: "4", SLURM_STEP_NUM_TASKS: "1" }],
	[{ OMPI_COMM_WORLD_SIZE: "1", OMPI_COMM_WORLD_RANK: "0" }],
	[{ SLURM_NTASKS: "8" }], // a batch script, outside of srun
	[{ PMI_SIZE: "4", PMI_RANK: "1", TRAJGPT_MPI_LIBRARY: "none" }],
])("a process is on its own: %o", async (env) => {
	expect(launchOf(env)).toBeUndefined();
	expect(await openCommunicator(env)).toBe(oneProcess);
});
