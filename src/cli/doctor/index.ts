import { checkAccelerator } from "./accelerator.js";
import { checkEngine } from "./engine.js";
import { checkMachine } from "./machine.js";
import { findOptional } from "./optional.js";
import type { Report } from "./render.js";

export { render } from "./render.js";

export async function examine(folder: string): Promise<Report> {
	const [machine, engine, accelerator, optional] = await Promise.all([
		checkMachine(folder),
		checkEngine(),
		checkAccelerator(),
		findOptional(),
	]);
	const ok = machine.nodeIsRecentEnough && engine.works;
	return { ok, machine, engine, accelerator, optional };
}
