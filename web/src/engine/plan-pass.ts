import { roomForSlots } from "../../../src/models/trajgpt/passes.js";

/** One call of the model: from a remembered state, over the events after it. */
export interface Pass {
	/** Events that the state has seen. */
	readonly from: number;
	/** Events observed, and times asked about, with what they are filled up to. */
	readonly events: number;
	readonly times: number;
	readonly shape: string;
}

/** A program compiles as long as about so many events take. */
const compiling = 400;

/** As many as an edit mostly leaves to be asked: what comes after it, along the curves. */
const few = 32;

/** Times are asked about in few numbers: each is a program of its own. */
export const roomForTimes = (times: number): number =>
	[few, 96, 192].find((room) => times <= room) ?? Math.ceil(times / 256) * 256;

const passOf = (from: number, end: number, times: number): Pass => {
	const [slots, room] = [roomForSlots(end - from), roomForTimes(times)];
	const shape = `${from === 0 ? "fresh" : "on"} ${slots} ${room}`;
	return { from, events: slots, times: room, shape };
};

/** Numbers of events that remembered states can always be found for: see `roomForSlots`. */
const rooms = { few: [16, 40, 64, 96, 128, 160, 192, 256], many: [16, 64, 128, 256] };

/** A pass of each of few kinds, which together serve every edit of a history; the smallest first. */
export function passesWorthHaving(states: readonly number[], end: number, times: number): Pass[] {
	const sizes = roomForTimes(times) === few ? [few] : [few, times];
	return sizes.flatMap((size) => {
		const passes = states.filter((from) => from < end).map((from) => passOf(from, end, size));
		const wanted = size === few ? rooms.few : rooms.many;
		const kept = wanted.flatMap((room) => passes.find(({ events }) => events === room) ?? []);
		return end > 0 ? [...kept, passOf(0, end, size)] : kept;
	});
}

/** The state to start from: at most `least` events seen; the cheapest, and programs at hand are cheap. */
export function planPass(
	states: readonly number[],
	least: number,
	end: number,
	times: number,
	compiled: ReadonlySet<string>,
): Pass {
	const costOf = ({ events, times, shape }: Pass) =>
		events + times + (compiled.has(shape) ? 0 : compiling);
	const [best] = [0, ...states]
		.filter((from) => from <= least)
		.map((from) => passOf(from, end, times))
		.sort((a, b) => costOf(a) - costOf(b) || b.from - a.from);
	return best as Pass;
}
