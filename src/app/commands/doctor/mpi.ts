import type { Communicator } from "../../../base/communicator.js";
import { loadMpi } from "../../../engine/mpi/index.js";

export interface Mpi {
	/** Versions and files: those that can be loaded or, in a job, the one that connects it. */
	readonly libraries: readonly string[];
	/** Processes of the job. */
	readonly processes: number;
	/** Of these, on this machine. */
	readonly local: number;
}

export async function checkMpi({ label, size, localSize }: Communicator): Promise<Mpi> {
	const job = { processes: size, local: localSize };
	// The symbols of two libraries would be mixed up.
	if (size > 1) return { libraries: [label], ...job };
	const found = [
		await loadMpi(["Open MPI"], process.env, false),
		await loadMpi(["MPICH"], process.env, false),
	];
	const names = found.flatMap((own) => (own ? [`${own.version} (${own.path})`] : []));
	return { libraries: [...new Set(names)], ...job };
}
