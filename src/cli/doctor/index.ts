import { checkEngine } from "./engine.js";
import { checkMachine } from "./machine.js";
import { findOptional } from "./optional.js";
import type { Report } from "./render.js";

export { render } from "./render.js";

export async function examine(folder: string): Promise<Report> {
	const [machine, engine, optional] = await Promise.all([
		checkMachine(folder),
		checkEngine(),
		findOptional(),
	]);
	return { ok: machine.nodeIsRecentEnough && engine.works, machine, engine, optional };
}
