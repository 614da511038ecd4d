import { axisX, axisY, gridX, gridY, line, ruleX, text } from "@observablehq/plot";
import { thousands } from "../../../base/thousands.js";
import { yearDays } from "../../../base/time.js";
import type { OnsetDetails } from "../../evaluation.js";
import { avoidOverlap } from "../avoid-overlap.js";
import { quietAxis } from "../axes.js";
import { roundNumbers } from "../clock.js";
import type { Figure, Panel } from "../figure.js";
import { percent } from "../numbers.js";
import { theme } from "../theme.js";
import { inRows } from "./in-rows.js";

export type Condition = NonNullable<OnsetDetails["conditions"]>[number];

const plotHeight = 260;
const [marginTop, marginBottom, marginLeft, marginRight] = [8, 42, 44, 168];

/** Observed incidence by fifths of the predicted risk, one panel per condition. */
export function byFifthFigure(
	conditions: readonly Condition[],
	{ narrow = false }: { readonly narrow?: boolean } = {},
): Figure {
	const years = conditions[0]?.years ?? 5;
	return {
		title: "What happened, by predicted risk",
		subtitle: `people in fifths by their predicted ${years}-year risk; share with a first record since the index day, death competing (Aalen–Johansen)`,
		description: conditions
			.map(({ name, fifths }) => {
				const ends = [fifths[0], fifths.at(-1)].map((own) => percent(own?.observed.at(-1) ?? 0));
				return `${name}: ${ends[0]} of the lowest fifth, ${ends[1]} of the highest within ${years} years.`;
			})
			.join(" "),
		...(narrow && { width: theme.narrowWidth }),
		rows: inRows(conditions.map(conditionPanel), narrow ? 1 : 2),
		notes: [
			`At the end of each line: observed share after ${years} years, and in parentheses the mean predicted risk of the same people. Upright lines are 95 % intervals.`,
		],
	};
}

const names = ["lowest fifth", "second", "third", "fourth", "highest fifth"];

function conditionPanel({ name, days, fifths, years, onsets, atRisk }: Condition): Panel {
	const lines = fifths.map(({ observed, predicted, low, high }, at) => {
		const points = days.flatMap((day, i) => {
			const value = observed[i];
			return value === null || value === undefined ? [] : [{ year: day / yearDays, value }];
		});
		const share = fifths.length > 1 ? at / (fifths.length - 1) : 1;
		return { points, predicted, low, high, at, colour: colourAt(share) };
	});
	const ends = lines.map(({ points }) => points.at(-1)?.value ?? 0);
	const most = 1.08 * Math.max(1e-3, ...ends, ...lines.map(({ high }) => high ?? 0));
	const ticks = roundNumbers(0, most, 4);
	/** Intervals stand side by side after the end of the lines. */
	const whiskerAt = (at: number) => years * (1 + (0.09 * (at + 1)) / lines.length);
	const end = 1.1 * years;
	const places = avoidOverlap(
		ends.map((value) => (1 - value / most) * plotHeight),
		ends.map(() => theme.size.tick + 4),
		[-8, plotHeight + 8],
	);
	return {
		title: name,
		subtitle: `${thousands(onsets)} first records among ${thousands(atRisk)} people without one`,
		height: plotHeight + marginTop + marginBottom,
		plot: () => ({
			...{ marginTop, marginBottom, marginLeft, marginRight },
			x: { domain: [0, end] },
			y: { domain: [0, most] },
			marks: [
				gridX(roundNumbers(0, years, 5), { stroke: theme.grid, strokeOpacity: 1 }),
				gridY(ticks, { stroke: theme.grid, strokeOpacity: 1 }),
				axisY(ticks, { ...quietAxis, label: null, text: tick }),
				axisX(roundNumbers(0, years, 5), { ...quietAxis, label: "years after the index day" }),
				...lines.flatMap(({ points, colour, low, high, at }) => [
					line(points, {
						...{ x: "year", y: "value", stroke: colour, strokeWidth: 2.4 },
						curve: "step-after",
					}),
					...(low === null || high === null
						? []
						: [ruleX([whiskerAt(at)], { y1: low, y2: high, stroke: colour, strokeWidth: 2.5 })]),
				]),
				...lines.map(({ colour, predicted, at }) =>
					text(
						[`${percent(ends[at] as number)} (${percent(predicted)}) ${names[at] ?? ""}`.trim()],
						{
							...{ x: [end], y: [most * (1 - (places[at] as number) / plotHeight)] },
							...{ textAnchor: "start", dx: 8, fill: colour },
							...(at === lines.length - 1 && { fontWeight: "bold" }),
						},
					),
				),
			],
		}),
	};
}

const tick = (value: number) => `${thousands(Number((100 * value).toFixed(4)))} %`;

/** From quiet to strong: the highest fifth stands out. */
const ramp = ["#7d8794", "#5f86ad", "#2f77a8", "#0a5a94", "#b5380f"] as const;
const colourAt = (share: number): string =>
	ramp[Math.round(share * (ramp.length - 1))] ?? theme.accent;
