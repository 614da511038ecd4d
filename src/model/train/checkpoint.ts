import { createHash } from "node:crypto";
import {
	closeSync,
	existsSync,
	openSync,
	readdirSync,
	readFileSync,
	readSync,
	statSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { InputError } from "../../base/errors.js";
import {
	contentSha256,
	type Disk,
	disk,
	removeAbandoned,
	temporaryName,
} from "../../base/files/index.js";
import { explainError } from "../../base/system-errors.js";
import {
	decodeSafetensors,
	encodeSafetensors,
	firstNonFinite,
	type StoredTensor,
} from "./safetensors.js";

/** All that is needed to go on as if nothing had happened. */
export interface Checkpoint {
	readonly step: number;
	readonly epoch: number;
	readonly model: string;
	/** The model's and the run's configuration; plain JSON. */
	readonly config: unknown;
	/** Schedule, randomness, early stopping; plain JSON. */
	readonly state: unknown;
	/** Weights and optimizer moments. */
	readonly tensors: ReadonlyMap<string, StoredTensor>;
	/** The files that the weights were learned with; none in checkpoints of versions before this field. */
	readonly seal?: Seal | undefined;
}

const KIND = "trajgpt-checkpoint";
const VERSION = 1;
const STATE = "state.safetensors";
const META = "meta.json";

const previousOf = (place: string) => `${place}.old`;

/**
 * Replaces the checkpoint in `folder`. The new one is written beside it; then the old one steps
 * aside (`<folder>.old`), the new one takes its place, and the old one is removed. A folder under
 * its own name or under `.old` alone is therefore always whole, whenever the process dies.
 */
export function writeCheckpoint(folder: string, checkpoint: Checkpoint, on: Disk = disk): void {
	const place = resolve(folder);
	const previous = previousOf(place);
	const beside = temporaryName(place);
	refuseUnless(isReplaceable, place);
	refuseUnless(holdsOnlyOurNames, previous);
	refuseNonFinite(checkpoint, place);
	const described = describedBy(checkpoint);
	const chunks = encodeSafetensors(checkpoint.tensors, headerOf(described, checkpoint.seal));
	const meta = encodeMeta(described, chunks);
	let swapped = false;
	try {
		on.makeFolder(dirname(place));
		settle(place, on);
		on.makeFolder(beside);
		on.writeFile(join(beside, STATE), chunks);
		on.writeFile(join(beside, META), [meta]);
		on.syncFolder(beside);
		if (existsSync(place)) on.rename(place, previous);
		on.rename(beside, place);
		swapped = true;
		on.syncFolder(dirname(place));
	} catch (error) {
		if (!swapped) attempt(() => stepBack(place, on));
		attempt(() => on.remove(beside));
		throw new InputError(
			`cannot write the checkpoint of step ${checkpoint.step} to ${place}: ` +
				`${explainError(error)}; ${whatRemains(place, swapped)}`,
			{ cause: error },
		);
	}
	attempt(() => on.remove(previous)); // the next write tries again
}

/** Undoes a swap that was interrupted halfway, and removes what dead writers left. */
function settle(place: string, on: Disk) {
	stepBack(place, on);
	on.remove(previousOf(place));
	removeAbandoned(place, on.remove);
}

function stepBack(place: string, on: Disk) {
	if (holdsCheckpoint(place) || !holdsCheckpoint(previousOf(place))) return;
	on.rename(previousOf(place), place); // where there is an empty folder or none
	on.syncFolder(dirname(place));
}

const holdsCheckpoint = (folder: string) => existsSync(join(folder, META));

function attempt(action: () => void) {
	try {
		action();
	} catch {
		// the error that led here is the one to report
	}
}

function whatRemains(place: string, swapped: boolean): string {
	if (swapped) return "the new checkpoint is in place, but may not survive a loss of power";
	const kept = [place, previousOf(place)].find(holdsCheckpoint);
	return kept ? `the previous checkpoint is intact in ${kept}` : "there was no checkpoint before";
}

function refuseUnless(mayGo: (folder: string) => boolean, folder: string) {
	let reason =
		"it is not a checkpoint of trajgpt, or holds other files; move it away or choose another folder";
	try {
		if (mayGo(folder)) return;
	} catch (error) {
		reason = explainError(error);
	}
	throw new InputError(`will not replace ${folder}: ${reason}`);
}

function isReplaceable(folder: string): boolean {
	if (!existsSync(folder)) return true;
	if (!holdsOnlyOurNames(folder)) return false;
	if (readdirSync(folder).length === 0) return true;
	try {
		return JSON.parse(readFileSync(join(folder, META), "utf8"))?.kind === KIND;
	} catch {
		return false;
	}
}

/** Hidden files do not count: desktops and network file systems leave them anywhere. */
function holdsOnlyOurNames(folder: string): boolean {
	if (!existsSync(folder)) return true;
	if (!statSync(folder).isDirectory()) return false;
	return readdirSync(folder).every(
		(name) => name === STATE || name === META || name.startsWith("."),
	);
}

/** A loss can stay finite while a weight or a moment overflows. */
function refuseNonFinite({ step, tensors }: Checkpoint, place: string) {
	const fault = firstNonFinite(tensors);
	if (fault)
		throw new InputError(
			`the checkpoint of step ${step} is not written to ${place}: ${fault}; ${whatRemains(place, false)}; ` +
				"start a new run with a lower `learningRate`, or a lower `clip`",
		);
}

/** What `meta.json` says but for the tensors' own size and hash. */
function describedBy({ step, epoch, model, config, state }: Checkpoint) {
	const described = { kind: KIND, version: VERSION, step, epoch, model, config, state };
	refuseWhatJsonLoses(described, "checkpoint");
	return described;
}

const HASH_OF = "sha256:";

/** The header of the tensors' file binds `meta.json` and the run's files to them. */
const headerOf = (described: unknown, seal: Seal = {}): Record<string, string> =>
	Object.fromEntries(
		Object.entries({ [META]: contentSha256(described), ...seal }).map(([file, hash]) => [
			`${HASH_OF}${file}`,
			hash,
		]),
	);

/** The hashes that the header of a tensors' file holds; none where an earlier version wrote it. */
const hashesIn = (header: Readonly<Record<string, string>>): Record<string, string> =>
	Object.fromEntries(
		Object.entries(header)
			.filter(([key]) => key.startsWith(HASH_OF))
			.map(([key, hash]) => [key.slice(HASH_OF.length), hash]),
	);

function encodeMeta(
	described: ReturnType<typeof describedBy>,
	chunks: readonly Uint8Array[],
): Uint8Array {
	const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
	const meta = { ...described, weights: { file: STATE, bytes, sha256: sha256(chunks) } };
	return new TextEncoder().encode(`${JSON.stringify(meta, null, "\t")}\n`);
}

/** JSON turns NaN and Infinity into null and drops what is undefined, without a word. */
function refuseWhatJsonLoses(value: unknown, path: string) {
	if (typeof value === "object" && value !== null) {
		for (const [key, item] of Object.entries(value)) refuseWhatJsonLoses(item, `${path}.${key}`);
		if (Array.isArray(value) || isPlain(value)) return;
	} else if (value === null || typeof value === "string" || typeof value === "boolean") return;
	else if (Number.isFinite(value)) return;
	const got = typeof value === "object" ? value.constructor.name : String(value);
	throw new TypeError(`${path} is ${got}, which JSON cannot hold; use null or a text instead`);
}

function isPlain(value: object): boolean {
	const prototype = Object.getPrototypeOf(value);
	return prototype === Object.prototype || prototype === null;
}

function sha256(chunks: readonly Uint8Array[]): string {
	const hash = createHash("sha256");
	for (const chunk of chunks) hash.update(chunk);
	return hash.digest("hex");
}

/** Whether `readCheckpoint` would find something, be it whole or not. */
export function hasCheckpoint(folder: string): boolean {
	return holdsCheckpoint(locate(resolve(folder)));
}

/** Whether a checkpoint names the files that its weights were learned with; only its header is read. */
export function isSealed(folder: string): boolean {
	const file = openSync(join(locate(resolve(folder)), STATE), "r");
	try {
		const length = Buffer.alloc(8);
		readSync(file, length);
		const header = Buffer.alloc(Math.min(Number(length.readBigUInt64LE()), 2 ** 20));
		readSync(file, header);
		return header.includes(`"${HASH_OF}run.json"`);
	} finally {
		closeSync(file);
	}
}

/** Reads and verifies; never writes. After an interrupted swap this is the old checkpoint. */
export function readCheckpoint(folder: string): Checkpoint {
	const place = resolve(folder);
	for (let attemptsLeft = 3; ; attemptsLeft--) {
		const current = locate(place);
		const meta = readText(join(current, META));
		try {
			return load(current, meta);
		} catch (error) {
			// a writer may have swapped the folder between the two files
			const unchanged = readText(join(locate(place), META)) === meta;
			if (unchanged || attemptsLeft === 0) throw error;
		}
	}
}

/** Looks at `place` twice: a swap may end between the first two looks. */
function locate(place: string): string {
	return [place, previousOf(place), place].find(holdsCheckpoint) ?? place;
}

function readText(file: string): string | undefined {
	try {
		return readFileSync(file, "utf8");
	} catch {
		return undefined;
	}
}

function load(folder: string, metaText: string | undefined): Checkpoint {
	const refuse = (what: string): never => {
		throw new InputError(`cannot read the checkpoint ${folder}: ${what}`);
	};
	const readBytes = (file: string) => {
		try {
			return readFileSync(file);
		} catch (error) {
			return refuse(explainError(error));
		}
	};
	if (!existsSync(folder)) refuse("there is no such folder; check the path, or train first");
	const { weights, ...described } = decodeMeta(
		metaText ?? readBytes(join(folder, META)).toString("utf8"),
		refuse,
	);
	const file = join(folder, STATE);
	const bytes = readBytes(file);
	const damaged = "it is truncated or damaged; copy it again, or use another checkpoint";
	if (bytes.length !== weights.bytes)
		refuse(`${STATE} has ${bytes.length} bytes, ${META} says ${weights.bytes}; ${damaged}`);
	const hash = sha256([bytes]);
	if (hash !== weights.sha256)
		refuse(`${STATE} has sha256 ${hash}, ${META} says ${weights.sha256}; ${damaged}`);
	const { tensors, metadata } = decodeSafetensors(bytes, file);
	const { [META]: metaHash, ...seal } = hashesIn(metadata);
	if (
		metaHash !== undefined &&
		metaHash !== contentSha256({ kind: KIND, version: VERSION, ...described })
	)
		refuse(`${META} was changed, or is another checkpoint's; copy both files again`);
	const nonFinite = firstNonFinite(tensors);
	if (nonFinite) refuse(`${nonFinite}; use another checkpoint, or train again`);
	return { ...described, tensors, ...(Object.keys(seal).length > 0 && { seal }) };
}

type Meta = Omit<Checkpoint, "tensors"> & {
	readonly weights: { readonly bytes: number; readonly sha256: string };
};

function decodeMeta(text: string, refuse: (what: string) => never): Meta {
	let meta: Partial<Record<string, unknown>> | null = null;
	try {
		meta = JSON.parse(text);
	} catch {
		refuse(`${META} is not JSON; it is truncated or damaged; use another checkpoint`);
	}
	if (meta?.kind !== KIND) {
		const got = JSON.stringify(meta?.kind) ?? "nothing";
		return refuse(`${META} has kind ${got}, expected "${KIND}"; it is not one of trajgpt`);
	}
	if (meta.version !== VERSION) {
		const advice = Number(meta.version) > VERSION ? "update trajgpt" : "train again";
		refuse(`it has format ${JSON.stringify(meta.version)}, expected ${VERSION}; ${advice}`);
	}
	const { step, epoch, model, config, state } = meta;
	const weights = meta.weights as Partial<Record<string, unknown>> | null | undefined;
	const expected: readonly [field: string, value: unknown, holds: boolean, want: string][] = [
		["step", step, isCount(step), "a whole number"],
		["epoch", epoch, isCount(epoch), "a whole number"],
		["model", model, typeof model === "string", "the id of a model"],
		["config", config, config !== undefined, "an object"],
		["state", state, state !== undefined, "an object"],
		["weights.bytes", weights?.bytes, isCount(weights?.bytes), "a whole number"],
		["weights.sha256", weights?.sha256, typeof weights?.sha256 === "string", "64 hex digits"],
	];
	for (const [field, value, holds, want] of expected) {
		if (!holds) {
			const got = JSON.stringify(value) ?? "nothing";
			refuse(`${META} has ${field} ${got}, expected ${want}; use another checkpoint`);
		}
	}
	return { step, epoch, model, config, state, weights } as Meta;
}

function isCount(value: unknown): boolean {
	return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** SHA-256 of the files that weights were learned with, by name: the weights' file carries it. */
export type Seal = Readonly<Record<string, string>>;

/** Fields of `run.json` and `task.json` that no prediction depends on. */
const withoutEffect: readonly string[] = [
	"datasetFolder",
	"versions",
	"threads",
	"provider",
	"precision",
];

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
export function checkSeal(where: string, seal: Seal, files: readonly string[]): void {
	const now = sealOf(files);
	for (const file of files) {
		const [actual, expected] = [now[basename(file)], seal[basename(file)]];
		if (actual !== expected)
			throw new InputError(
				`${file} does not belong to the weights in ${where}: it was changed, or is another run's ` +
					`(SHA-256 of its content ${short(actual)}, expected ${short(expected)}); ` +
					"restore it from a copy of the run, or train anew",
			);
	}
}

const short = (hash: string | undefined) => (hash ? `${hash.slice(0, 12)}…` : "none");
