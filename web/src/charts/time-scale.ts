import { type AxisTicks, type Clock, timeAxis } from "../../../src/figures/clock.js";
import { textWidth } from "../../../src/figures/text.js";

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

/** As many ticks as have room for their names; on a narrow axis closer than on a wide one. */
export function ticksOf(clock: Clock, { domain, width, x }: TimeScale): AxisTicks {
	const axisOf = (apart: number) => timeAxis(clock, domain, Math.max(2, Math.floor(width / apart)));
	const fits = ({ ticks, format }: AxisTicks) => {
		const widest = Math.max(...ticks.map((time) => textWidth(format(time), { size: 12 })));
		return ticks.every((time, at) => at === 0 || x(time) - x(ticks[at - 1] as number) > widest + 8);
	};
	const close = axisOf(48);
	return width < 400 && fits(close) ? close : axisOf(80);
}

/** All of a history and what is asked beyond it, with a little room. */
export function wholeDomain(
	times: readonly number[],
	date: number,
	horizon: number,
): readonly [from: number, to: number] {
	// One by one: a history may be longer than a call may have arguments.
	const first = times.reduce((least, time) => Math.min(least, time), date);
	const last = times.reduce((most, time) => Math.max(most, time), date + horizon);
	const room = 0.02 * (last - first || 1);
	return [first - room, last + room];
}

/** A part of the axis around a time, by a factor; null where that is all of it. */
export function zoomed(
	whole: readonly [number, number],
	now: readonly [number, number],
	factor: number,
	around: number,
	/** What is shown at closest. */
	least = 0,
): readonly [number, number] | null {
	const size = Math.min(whole[1] - whole[0], Math.max(least, (now[1] - now[0]) * factor));
	if (size >= 0.999 * (whole[1] - whole[0])) return null;
	const centre = Math.max(now[0], Math.min(now[1], around));
	const part = (centre - now[0]) / (now[1] - now[0]);
	return within(whole, centre - part * size, size);
}

const linePixels = 16;
const pagePixels = 400;

/** What a turn of the wheel zooms by: as far back as forth, and never by much at once. */
export function wheelFactor({
	deltaY,
	deltaMode,
}: Pick<WheelEvent, "deltaY" | "deltaMode">): number {
	const pixels = deltaY * ([1, linePixels, pagePixels][deltaMode] ?? 1);
	return Math.exp(0.002 * Math.max(-100, Math.min(100, pixels)));
}

/** The same length of axis, moved just so far that a time is in its middle; null where all is shown anyway. */
export const showing = (
	whole: readonly [number, number],
	now: readonly [number, number] | null,
	time: number,
): readonly [number, number] | null =>
	now && within(whole, time - (now[1] - now[0]) / 2, now[1] - now[0]);

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
