/** How a history longer than the model's length is cut. */
export type Cut = "last" | "windows";

/**
 * Windows of sequences, as columns: window i is the birth event of `sequence[i]`, if it has one, followed by
 * its slots `from[i]` to `to[i]`. Every window contains the birth event, so the age is known in each.
 */
export interface HistoryWindows {
	readonly sequence: Int32Array;
	readonly from: Int32Array;
	readonly to: Int32Array;
	/** Slots in the window, birth event included. */
	readonly length: Int32Array;
}

/**
 * Cuts sequences to at most `maxLength` slots: `last` keeps the latest events, `windows` keeps all events in
 * as few windows of equal size as possible, so that no window has only an event or two.
 */
export function cutWindows(
	lengths: ArrayLike<number>,
	birthEvents: ArrayLike<number>,
	maxLength: number,
	cut: Cut,
): HistoryWindows {
	const sequence: number[] = [];
	const from: number[] = [];
	const to: number[] = [];
	const length: number[] = [];
	const add = (at: number, birth: number, start: number, end: number) => {
		sequence.push(at);
		from.push(start);
		to.push(end);
		length.push(birth + end - start);
	};
	for (let at = 0; at < lengths.length; at++) {
		const birth = birthEvents[at] as number;
		const end = lengths[at] as number;
		const events = end - birth;
		const room = maxLength - birth;
		const windows = Math.ceil(events / room);
		if (windows === 0) continue; // no event to predict
		if (cut === "last") add(at, birth, Math.max(birth, end - room), end);
		else
			for (let i = 0; i < windows; i++)
				add(
					at,
					birth,
					birth + Math.floor((i * events) / windows),
					birth + Math.floor(((i + 1) * events) / windows),
				);
	}
	return {
		sequence: Int32Array.from(sequence),
		from: Int32Array.from(from),
		to: Int32Array.from(to),
		length: Int32Array.from(length),
	};
}
