import { InputError } from "../../base/errors.js";
import type { Step, Task, Window } from "./definition.js";

/** Whether a window begins before a time, or has an event at it. */
export function overlaps(window: Window, moments: readonly number[], time: number): boolean {
	const start = moments[window.start] as number;
	return start < time || (window.startInclusive && start === time);
}

interface Range {
	readonly least: number;
	readonly most: number;
}

/** How far a step leads, in microseconds. */
function rangeOf(step: Step): Range {
	if ("by" in step) return { least: step.by, most: step.by };
	const nearest = step.inclusive ? 0 : 1;
	return step.to === "next"
		? { least: nearest, most: Number.POSITIVE_INFINITY }
		: { least: Number.NEGATIVE_INFINITY, most: -nearest };
}

/** How far one moment is after another, as far as the definition tells. */
export function distance({ moments }: Task, from: number, to: number): Range {
	const wayTo = (moment: number): number[] =>
		moment <= 0 ? [] : [moment, ...wayTo(moments[moment]?.from ?? 0)];
	const [ahead, back] = [wayTo(to), wayTo(from)];
	const total = (way: readonly number[], other: readonly number[]) =>
		way
			.filter((moment) => !other.includes(moment)) // beyond the moment that both come from
			.map((moment) => rangeOf(moments[moment]?.step ?? { by: 0 }))
			.reduce((sum, one) => ({ least: sum.least + one.least, most: sum.most + one.most }), {
				least: 0,
				most: 0,
			});
	const [there, here] = [total(ahead, back), total(back, ahead)];
	return { least: there.least - here.most, most: there.most - here.least };
}

/**
 * Refuses a task whose target always overlaps its input: the input is everything up to and including the prediction
 * time, and the window called `input`.
 */
export function checkOverlap(task: Task): void {
	const { label, index, windows } = task;
	if (!label) return;
	const { window: target } = label;
	if (index) {
		const { most } = distance(task, index.moment, target.start);
		if (most < 0 || (most === 0 && target.startInclusive))
			refuse(
				task,
				`the prediction time, ${task.moments[index.moment]?.name} of ${windowText(index.window)}, is not before the target ${windowText(target)}: events at the prediction time are part of the input`,
			);
	}
	const input = windows.find(({ name }) => name === "input");
	if (!input || input === target) return;
	const { most } = distance(task, input.end, target.start);
	if (most < 0 || (most === 0 && target.startInclusive && input.endInclusive))
		refuse(task, `the input ${windowText(input)} overlaps the target ${windowText(target)}`);
}

const windowText = ({ name, bounds }: Window) => `${name} ${bounds}`;

function refuse(task: Task, text: string): never {
	throw new InputError(
		`task ${task.name}: ${text}; let the target start after the input, with start_inclusive: false where both meet`,
	);
}
