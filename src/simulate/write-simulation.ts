import { createWriteStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { replaceFile } from "../cohort/beside.js";
import { conditions } from "./conditions.js";
import type { SimulateOptions } from "./histories.js";
import { simulateHistories } from "./histories.js";

export interface SimulationFiles {
	/** The histories, one JSON object a line. */
	readonly events: string;
	/** Names, categories and kinds of the codes, for `prepare --names`. */
	readonly names: string;
	readonly patients: number;
	readonly records: number;
}

/** The file of code names that goes with a file of histories. */
export function namesFileOf(events: string): string {
	return `${events.replace(/\.jsonl$/, "")}.codes.csv`;
}

export async function writeSimulation(
	events: string,
	options: SimulateOptions,
): Promise<SimulationFiles> {
	let records = 0;
	function* lines() {
		for (const history of simulateHistories(options)) {
			records += history.types.length;
			yield `${JSON.stringify(history)}\n`;
		}
	}
	const names = namesFileOf(events);
	const rows = conditions.map(
		({ code, name, category }) => `${code},"${name}","${category}",diagnosis\n`,
	);
	await replaceFile(names, (path) => writeFile(path, `code,name,category,kind\n${rows.join("")}`));
	await replaceFile(events, (path) => pipeline(Readable.from(lines()), createWriteStream(path)));
	return { events, names, patients: options.patients, records };
}
