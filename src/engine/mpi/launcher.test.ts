import { expect, test } from "vitest";
import { oneProcess } from "../../base/communicator.js";
import { openCommunicator } from "./index.js";
import { chooseGpu, launchOf } from "./launcher.js";

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

const chosen = (localRank: number, localSize: number, visible: string | undefined) => {
	const env: Record<string, string | undefined> = { CUDA_VISIBLE_DEVICES: visible };
	chooseGpu({ localRank, localSize }, env, ["0", "1", "2", "3"]);
	return env.CUDA_VISIBLE_DEVICES;
};

test("the local rank chooses the GPU", () => {
	expect([0, 1, 3].map((rank) => chosen(rank, 4, undefined))).toEqual(["0", "1", "3"]);
	expect(chosen(1, 2, "4,6")).toBe("6");
	expect(chosen(1, 2, "GPU-a,GPU-b")).toBe("GPU-b");
});

test("more processes than GPUs share them", () => {
	expect(chosen(5, 8, undefined)).toBe("1");
});

test("a launcher that gives each process its own GPU is left alone, and so is a process on its own", () => {
	expect(chosen(3, 4, "2")).toBe("2");
	expect(chosen(0, 1, undefined)).toBeUndefined();
	expect(chosen(1, 2, "")).toBe("");
});
