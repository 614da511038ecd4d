import type { Cell, Entry } from "./cell.js";
import type { Line } from "./comparison.js";
import type { Source, Way } from "./sources.js";

/** Describes the intervals and the number of patients. */
export function drawingNotes(cells: readonly Cell[]): string[] {
	const evaluations = cells.flatMap((cell) => Object.values(cell.evaluations));
	const [one] = evaluations;
	if (!one) return [];
	return [
		`intervals: 95 %, over patients of split ${one.split}, of the mean over seeds; ${one.draws} bootstrap draws (seed ${one.seed}), the same for every line; sd: standard deviation over seeds`,
		...new Set(
			evaluations.map(({ task, patients, newCodes, tooFew }) =>
				tooFew
					? `${task}: ${tooFew}`
					: newCodes && task === "forecast"
						? `${task}: ${patients} patients; ${(100 * newCodes.value).toFixed(1)} % [${(100 * newCodes.low).toFixed(1)}, ${(100 * newCodes.high).toFixed(1)}] of the codes are new for the patient, the others known from the look-up window`
						: `${task}: ${patients} patients`,
			),
		),
	];
}

/** Lists the tasks that were not measured, for which lines and why. */
export function notMeasuredNotes(ways: readonly Way[], cells: readonly Cell[]): string[] {
	const labels = new Map(ways.map(({ entry }) => [entry.id, entry.label]));
	const found: { task: string; reason: string; lines: Set<string> }[] = [];
	for (const { entry, left } of cells)
		for (const [task, reason] of Object.entries(left)) {
			const label = entry === null ? "counts" : (labels.get(entry) ?? entry);
			const same = found.find((one) => one.task === task && one.reason === reason);
			if (same) same.lines.add(label);
			else found.push({ task, reason, lines: new Set([label]) });
		}
	return found.map(
		({ task, reason, lines }) => `${task} not measured of ${[...lines].join(", ")}: ${reason}`,
	);
}

/** Lists lines without differences because the line to compare with has no result. */
export function missingNotes(
	sources: readonly Source[],
	against: (source: Source) => Entry | undefined,
): string[] {
	const there = new Set(sources.map(({ way }) => way?.entry));
	const without = new Map<Entry, string[]>();
	for (const source of sources) {
		const other = against(source);
		if (other && !there.has(other))
			without.set(other, [...(without.get(other) ?? []), source.label]);
	}
	return [...without].map(
		([{ label }, lines]) =>
			`no differences from ${label}, which has no result: ${lines.join(", ")}`,
	);
}

/** Lists lines that were not trained on the CPU. */
export function providerNotes(lines: readonly Line[]): string[] {
	const labels = new Map<string, string[]>();
	for (const { label, training } of lines) {
		const { provider = "cpu" } = training ?? {};
		if (provider !== "cpu") labels.set(provider, [...(labels.get(provider) ?? []), label]);
	}
	return [...labels].map(
		([provider, own]) =>
			`trained on ${provider}, so that CPU seconds and memory would not tell what it took: ${own.join(", ")}`,
	);
}
