import type { Communicator } from "../../../base/communicator.js";
import { checkAccelerator } from "./accelerator.js";
import { checkEngine } from "./engine.js";
import { checkMachine } from "./machine.js";
import { checkMpi } from "./mpi.js";
import { findOptional } from "./optional.js";
import type { Report } from "./render.js";

export { render } from "./render.js";

export async function examine(folder: string, communicator: Communicator): Promise<Report> {
	const [machine, engine, accelerator, mpi, optional] = await Promise.all([
		checkMachine(folder),
		checkEngine(),
		checkAccelerator(),
		checkMpi(communicator),
		findOptional(),
	]);
	const ok = machine.nodeIsRecentEnough && engine.works;
	return { ok, machine, engine, accelerator, mpi, optional };
}
