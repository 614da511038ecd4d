import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { InputError } from "../../base/errors.js";
import { contentSha256 } from "../../base/files/index.js";

/** SHA-256 of the files that weights were learned with, by name: the weights' file carries it. */
export type Seal = Readonly<Record<string, string>>;

/** Fields of `run.json` and `task.json` that no prediction depends on. */
const withoutEffect: readonly string[] = [
	...["datasetFolder", "versions", "threads", "provider", "precision"],
];

/** The seal of some JSON files as they are now. */
export const sealOf = (files: readonly string[]): Seal =>
	Object.fromEntries(files.map((file) => [basename(file), fileSha256(file)]));

function fileSha256(file: string): string {
	let json: unknown;
	try {
		json = JSON.parse(readFileSync(file, "utf8"));
	} catch (cause) {
		throw new InputError(
			`${file} is missing or is not JSON; restore it from a copy of the run, or train anew`,
			{ cause },
		);
	}
	if (!["run.json", "task.json"].includes(basename(file))) return contentSha256(json);
	return contentSha256(
		Object.fromEntries(
			Object.entries(json ?? {}).filter(([field]) => !withoutEffect.includes(field)),
		),
	);
}

/** Refuses files that are not those the weights in `where` were learned with. */
export function checkSeal(where: string, seal: Seal, files: readonly string[], run: string): void {
	const now = sealOf(files);
	for (const file of files) {
		const [found, expected] = [now[basename(file)], seal[basename(file)]];
		if (found !== expected)
			throw new InputError(
				`${file} does not belong to the weights in ${where}: it was changed, or is another run's ` +
					`(SHA-256 of its content ${short(found)}, expected ${short(expected)}); ` +
					`restore it from a copy of the run; if the change is meant, run \`trajgpt seal ${run} --force\``,
			);
	}
}

const short = (hash: string | undefined) => (hash ? `${hash.slice(0, 12)}…` : "none");
