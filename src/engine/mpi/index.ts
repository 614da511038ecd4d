import { type Communicator, oneProcess } from "../../base/communicator.js";
import { joinJob } from "./communicator.js";
import { type Env, type Implementation, launchOf, libraryVariable, noLibrary } from "./launcher.js";
import { loadMpi } from "./library.js";

export { chooseGpu, launchOf } from "./launcher.js";
export { loadMpi } from "./library.js";

const packages: Readonly<Record<Implementation, string>> = {
	"Open MPI": "openmpi-bin",
	MPICH: "mpich",
};

/**
 * The processes that `mpirun` or `srun` started together with this one. Without a launcher, or with a single process,
 * no library is loaded. Call it once per process, and close what it returns.
 *
 * @example
 * const communicator = await openCommunicator();
 * await pretrain("data", "runs/first", { communicator });
 * communicator.close();
 */
export async function openCommunicator(env: Env = process.env): Promise<Communicator> {
	const launch = launchOf(env);
	if (!launch) return oneProcess;
	const [first] = launch.implementations;
	if (!first)
		throw noLibrary(
			launch,
			"it does not connect them",
			"use srun --mpi=pmix or --mpi=pmi2 (srun --mpi=list shows what there is)",
		);
	const library = await loadMpi(launch.implementations, env);
	if (!library)
		throw noLibrary(
			launch,
			env[libraryVariable]
				? `${libraryVariable}=${env[libraryVariable]} cannot be loaded as an MPI library`
				: `no library of ${launch.implementations.join(" or ")} was found`,
			`install it (Debian: apt-get install ${packages[first]}; on a cluster: load its module), name its file with ${libraryVariable}`,
		);
	const job = joinJob(library);
	if (job.size === launch.size) return job;
	job.close();
	throw noLibrary(
		launch,
		`with ${library.path} (${library.version}) each sees ${job.size}`,
		`it belongs to another launcher: start with the mpirun of ${library.version}, or name the library of ${first} with ${libraryVariable}`,
	);
}
