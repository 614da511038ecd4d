import { existsSync, readdirSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { InputError } from "../../../base/errors.js";
import { replaceFile } from "../../../base/files/index.js";
import { holdingRun, runFiles } from "../../../model/train/index.js";

const settingsSchema = z.strictObject({
	kind: z.literal("trajgpt-demo"),
	version: z.literal(3),
	patients: z.int().min(1),
	epochs: z.int().min(1),
	seed: z.int().min(0),
});
/** The settings that, with the machine, determine every number of a demo. */
export type DemoSettings = Omit<z.infer<typeof settingsSchema>, "kind" | "version">;

/** A few minutes of training on two cores. */
export const demoDefaults: DemoSettings = { patients: 4000, epochs: 4, seed: 1 };

export function demoFiles(folder: string) {
	const run = join(folder, "run");
	return {
		settings: join(folder, "demo.json"),
		population: join(folder, "population"),
		dataset: join(folder, "dataset"),
		run,
		report: runFiles(run).report,
	};
}

/**
 * The settings of the demo in a folder: those it was begun with, or `requested` over the defaults for a new
 * demo. A folder with other content is refused.
 */
export async function openFolder(
	folder: string,
	requested: Partial<DemoSettings>,
	fresh: boolean,
): Promise<DemoSettings> {
	const files = demoFiles(folder);
	const begun = existsSync(files.settings);
	if (!begun && existsSync(folder) && readdirSync(folder).length > 0)
		throw new InputError(
			`${folder} holds files but no demo.json, so it is not a demo's; choose another --out`,
		);
	if (begun && !fresh) return continueDemo(folder, requested);
	// The settings are removed last: they mark the folder as a demo's.
	if (begun)
		await holdingRun(files.run, async () => {
			for (const file of [files.run, files.dataset, files.population, files.settings])
				await rm(file, { recursive: true, force: true });
		});
	const settings = { ...demoDefaults, ...requested };
	const text = `${JSON.stringify({ kind: "trajgpt-demo", version: 3, ...settings }, null, 2)}\n`;
	await replaceFile(files.settings, (path) => writeFile(path, text));
	return settings;
}

async function continueDemo(
	folder: string,
	requested: Partial<DemoSettings>,
): Promise<DemoSettings> {
	const file = demoFiles(folder).settings;
	let json: unknown;
	try {
		json = JSON.parse(await readFile(file, "utf8"));
	} catch {
		// Text that is not JSON is refused below.
	}
	const parsed = settingsSchema.safeParse(json);
	if (!parsed.success)
		throw new InputError(
			`${file} is damaged or of another version; pass --fresh to start over, or another --out`,
		);
	const { patients, epochs, seed } = parsed.data;
	const begunWith: DemoSettings = { patients, epochs, seed };
	for (const name of ["patients", "epochs", "seed"] as const)
		if (requested[name] !== undefined && requested[name] !== begunWith[name])
			throw new InputError(
				`${folder} was begun with --${name} ${begunWith[name]}, not ${requested[name]}; ` +
					"leave the option out to continue, pass --fresh to start over, or choose another --out",
			);
	return begunWith;
}
