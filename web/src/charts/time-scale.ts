import { type AxisTicks, type Clock, timeAxis } from "../../../src/evaluate/charts/clock.js";
import { textWidth } from "../../../src/evaluate/charts/text.js";

export type TimeScale = ReturnType<typeof timeScale>;

/** Times to pixels and back. */
export function timeScale(
	domain: readonly [from: number, to: number],
	left: number,
	width: number,
) {
	const [from, to] = domain;
	const unit = Math.max(1, width) / (to - from || 1);
	return {
		domain,
		left,
		width,
		x: (time: number) => left + (time - from) * unit,
		time: (x: number) => from + (x - left) / unit,
		inside: (time: number) => time >= from && time <= to,
	};
}

/** As many ticks as fit with their labels; denser on a narrow axis. */
export function ticksOf(clock: Clock, { domain, width, x }: TimeScale): AxisTicks {
	const axisOf = (apart: number) => timeAxis(clock, domain, Math.max(2, Math.floor(width / apart)));
	const fits = ({ ticks, format }: AxisTicks) => {
		const widest = Math.max(...ticks.map((time) => textWidth(format(time), { size: 12 })));
		return ticks.every((time, at) => at === 0 || x(time) - x(ticks[at - 1] as number) > widest + 8);
	};
	const close = axisOf(48);
	return width < 400 && fits(close) ? close : axisOf(80);
}

/** The time range of a history and the horizon beyond the date, with a margin. */
export function wholeDomain(
	times: readonly number[],
	date: number,
	horizon: number,
): readonly [from: number, to: number] {
	// Not Math.min(...times): a history may be longer than the limit on arguments.
	const first = times.reduce((least, time) => Math.min(least, time), date);
	const last = times.reduce((most, time) => Math.max(most, time), date + horizon);
	const room = 0.02 * (last - first || 1);
	return [first - room, last + room];
}

/** The visible range scaled by a factor around a time; null if that is the whole range. */
export function zoomed(
	whole: readonly [number, number],
	now: readonly [number, number],
	factor: number,
	around: number,
	/** The smallest range. */
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

/** The zoom factor of a wheel event: symmetric, and bounded per event. */
export function wheelFactor({
	deltaY,
	deltaMode,
}: Pick<WheelEvent, "deltaY" | "deltaMode">): number {
	const pixels = deltaY * ([1, linePixels, pagePixels][deltaMode] ?? 1);
	return Math.exp(0.002 * Math.max(-100, Math.min(100, pixels)));
}

/** The visible range, centred on a time as far as possible; null if everything is visible. */
export const showing = (
	whole: readonly [number, number],
	now: readonly [number, number] | null,
	time: number,
): readonly [number, number] | null =>
	now && within(whole, time - (now[1] - now[0]) / 2, now[1] - now[0]);

/** The visible range, moved by a fraction of its length. */
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

/** The margins of a patient's plots, shared so that their time axes align. */
export function gutter(width: number): { left: number; right: number; narrow: boolean } {
	const narrow = width < 620;
	return { left: narrow ? 44 : 148, right: narrow ? 10 : 18, narrow };
}
