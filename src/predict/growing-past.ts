import { yearDays } from "../base/time.js";
import { specialCount } from "../data/cohort/vocabulary.js";
import { recentDays } from "../model/hazards/landmarks.js";
import type { Events } from "../model/index.js";

/** How much was recorded in a history that grows: as `writePast`, in the same time however long the history. */
export interface GrowingPast {
	add(token: number, time: number): void;
	/** Writes the features on a day that is neither before the last record nor before the day of the last call. */
	write(into: Float32Array, at: number, day: number): void;
}

export function growingPast({ tokens, times }: Events): GrowingPast {
	const days: number[] = [];
	const visits: number[] = [];
	const codes = new Set<number>();
	/** The first record and the first visit that are recent. */
	let [record, visit] = [0, 0];
	const add = (token: number, time: number) => {
		const day = Math.floor(time);
		if (visits.at(-1) !== day) visits.push(day);
		days.push(day);
		codes.add(token);
	};
	const isBirth = (tokens[0] ?? specialCount) < specialCount;
	for (let n = Number(isBirth); n < tokens.length; n++) add(tokens[n], times[n]);
	return {
		add,
		write(into, at, day) {
			while (record < days.length && day - days[record] >= recentDays) record++;
			while (visit < visits.length && day - visits[visit] >= recentDays) visit++;
			into[at] = Math.log1p(visits.length - visit);
			into[at + 1] = Math.log1p(days.length - record);
			into[at + 2] = Math.log1p(visits.length);
			into[at + 3] = Math.log1p(codes.size);
			into[at + 4] = Math.log1p((day - (days[0] ?? day)) / yearDays);
		},
	};
}
