import { type Clock, timeAxis } from "../../../src/figures/clock.js";

/** Times to pixels and back. */
export interface TimeScale {
	readonly domain: readonly [from: number, to: number];
	readonly left: number;
	readonly width: number;
	x(time: number): number;
	time(x: number): number;
	inside(time: number): boolean;
}

export function timeScale(
	domain: readonly [from: number, to: number],
	left: number,
	width: number,
): TimeScale {
	const [from, to] = domain;
	const unit = Math.max(1, width) / (to - from || 1);
	return {
		domain,
		left,
		width,
		x: (time) => left + (time - from) * unit,
		time: (x) => from + (x - left) / unit,
		inside: (time) => time >= from && time <= to,
	};
}

export const ticksOf = (clock: Clock, { domain, width }: TimeScale) =>
	timeAxis(clock, domain, Math.max(2, Math.floor(width / 80)));

/** All of a history and what is asked beyond it, with a little room. */
export function wholeDomain(
	times: readonly number[],
	date: number,
	horizon: number,
): readonly [from: number, to: number] {
	const all = [...times, date, date + horizon];
	const [first, last] = [Math.min(...all), Math.max(...all)];
	const room = 0.02 * (last - first || 1);
	return [first - room, last + room];
}

/** A part of the axis around a time, by a factor; null where that is all of it. */
export function zoomed(
	whole: readonly [number, number],
	now: readonly [number, number],
	factor: number,
	around: number,
): readonly [number, number] | null {
	const size = Math.min(whole[1] - whole[0], (now[1] - now[0]) * factor);
	if (size >= 0.999 * (whole[1] - whole[0])) return null;
	const part = (around - now[0]) / (now[1] - now[0]);
	return within(whole, around - part * size, size);
}

/** Moved by a part of what is shown. */
export const panned = (
	whole: readonly [number, number],
	[from, to]: readonly [number, number],
	part: number,
): readonly [number, number] => within(whole, from + part * (to - from), to - from);

function within(
	[first, last]: readonly [number, number],
	from: number,
	size: number,
): readonly [number, number] {
	const start = Math.max(first, Math.min(last - size, from));
	return [start, start + size];
}
