import { InputError } from "../../base/errors.js";
import { type Drawn, drawPatients, type Statistic } from "../bootstrap.js";
import type { Evaluation, EvaluationRow } from "../evaluation.js";
import { statisticsOf, unpacked, unpackedDraws } from "../rows.js";
import type { Reading, Source } from "./cells.js";
import type { Column } from "./columns.js";

/** The values of a line in a column, by seed. */
type BySeed = ReadonlyMap<number, Drawn>;

/**
 * Bootstraps the patients of each task once and evaluates all lines and seeds on the same draws; tasks that were
 * measured on such draws already are read.
 */
export function pairedBootstrap(
	columns: readonly Column[],
	sources: readonly Source[],
): (source: Source, column: Column) => BySeed {
	const byColumn = new Map<Column, Map<Source, BySeed>>();
	for (const task of new Set(columns.map((column) => column.task))) {
		const readings = columns
			.filter((column) => column.task === task)
			.flatMap((column) =>
				sources.flatMap((source) =>
					source.cells.flatMap((cell) => {
						const reading = source.read(cell, column);
						return reading ? [{ column, source, seed: cell.seed, reading }] : [];
					}),
				),
			);
		const [first] = readings;
		if (!first) continue;
		const { evaluation } = first.reading;
		for (const { reading } of readings) checkSame(evaluation, reading.evaluation);
		const statistics = statisticReader();
		const drawn: Readonly<Record<number, Drawn>> = first.reading.row.byDraw
			? readings.map(({ column, reading }) => drawnIn(reading, column.metric))
			: drawPatients(
					evaluation.patients,
					Object.fromEntries(
						readings.map(({ column, reading }, index) => [
							index,
							statistics(reading, column.metric),
						]),
					),
					evaluation,
				);
		for (const [index, { column, source, seed }] of readings.entries()) {
			const lines = byColumn.get(column) ?? new Map<Source, Map<number, Drawn>>();
			byColumn.set(column, lines.set(source, new Map(lines.get(source)).set(seed, drawn[index])));
		}
	}
	return (source, column) => byColumn.get(column)?.get(source) ?? new Map();
}

/** What was measured on each draw. */
function drawnIn({ row, evaluation }: Reading, metric: string): Drawn {
	const drawn = unpackedDraws(row.byDraw ?? {})[metric];
	const value = row.metrics[metric]?.value;
	if (drawn === undefined || value === undefined)
		throw new InputError(
			`the evaluation of ${row.label} on ${evaluation.task} has no draws of ${metric}; evaluate it again`,
		);
	return { value, drawn };
}

/** Unpacks the per-patient values of each row once, for all its metrics. */
function statisticReader(): (reading: Reading, metric: string) => Statistic {
	const unpackedRows = new Map<EvaluationRow, Readonly<Record<string, Statistic>>>();
	return ({ row, evaluation }, metric) => {
		if (!row.byPatient)
			throw new InputError(
				`the evaluation of ${row.label} on ${evaluation.task} has no per-patient values; evaluate it again`,
			);
		const statistics = unpackedRows.get(row) ?? statisticsOf(unpacked(row.byPatient));
		unpackedRows.set(row, statistics);
		const statistic = statistics[metric];
		if (!statistic) throw new InputError(`${row.label} has no per-patient values of ${metric}`);
		return statistic;
	};
}

/** Paired draws need lines that were measured on the same patients. */
function checkSame(one: Evaluation, other: Evaluation): void {
	const what = ({ made, split, patients, events, seed, draws, onset }: Evaluation) =>
		`${patients} patients (${events} events) of split ${split} of ${made.dataset}, ${draws} draws of seed ${seed}${onset ? `, ${onset.horizons.map(({ codes }) => codes).join(" and ")} codes` : ""}`;
	if (what(one) !== what(other))
		throw new InputError(
			`${one.task} was measured on different data: ${what(one)}, and ${what(other)}; evaluate both again`,
		);
}

/** The mean over seeds, for all patients and for each draw. */
export function seedMean(bySeed: BySeed): Drawn | undefined {
	const all = [...bySeed.values()];
	const [first] = all;
	if (!first) return undefined;
	const mean = (of: (one: Drawn) => number) =>
		all.reduce((sum, one) => sum + of(one), 0) / all.length;
	return {
		value: mean(({ value }) => value),
		drawn: first.drawn.map((_, index) => mean(({ drawn }) => drawn[index])),
	};
}
