import { join } from "node:path";
import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { readJson } from "../../base/files/index.js";
import { simulationMark } from "../records/tables/files.js";
import { lawVersion } from "./hazards.js";
import type { Oracle } from "./oracle.js";
import { oracle } from "./oracle.js";
import { formats } from "./table-parts.js";

export const truthFile = simulationMark.file;

const truthSchema = z.strictObject({
	kind: z.literal(simulationMark.kind),
	/** The version of the simulator's model. */
	law: z.int().min(1),
	seed: z.int().min(0),
	patients: z.int().min(1),
	records: z.int().min(0),
	prescriptions: z.int().min(0),
	format: z.enum(formats),
});

export type Truth = z.infer<typeof truthSchema>;

/** Reads the metadata of a simulation. */
export async function readTruth(folder: string): Promise<Truth> {
	const advice = "expected a folder written by simulate";
	return readJson(join(folder, truthFile), truthSchema, advice);
}

/** The oracle of the population in a folder. */
export async function oracleOf(folder: string): Promise<Oracle> {
	const { law } = await readTruth(folder);
	if (law !== lawVersion)
		throw new InputError(
			`${join(folder, truthFile)} was drawn from law ${law}; this version supports law ${lawVersion}; run simulate again`,
		);
	return oracle();
}
