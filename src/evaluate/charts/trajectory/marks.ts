import { theme } from "../theme.js";

export const radius = 4.2;
export const targetRadius = 7;

/** Mark styles of events, larger for the target disease; the cross works without colour. */
export function markStyles(target = false) {
	const r = target ? targetRadius : radius;
	const colour = target ? theme.strong : theme.accent;
	const circle = { symbol: "circle", r } as const;
	const crossed = target ? theme.strong : theme.quiet;
	return {
		seen: [
			{
				...circle,
				fill: theme.background,
				stroke: target ? theme.strong : theme.ink,
				strokeWidth: target ? 2 : 1.2,
			},
		],
		matched: [{ ...circle, fill: colour, stroke: colour, strokeWidth: 1.2 }],
		missed: [
			{ ...circle, fill: theme.background, stroke: crossed, strokeWidth: target ? 1.8 : 1 },
			{ symbol: "times", r: r * 0.6, stroke: crossed, strokeWidth: target ? 1.8 : 1.1 },
		],
	} as const;
}
