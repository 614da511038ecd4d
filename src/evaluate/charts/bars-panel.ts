import { axisY, barX, text } from "@observablehq/plot";
import type { Panel } from "./figure.js";
import { fitted, widest } from "./text.js";
import { theme } from "./theme.js";

export interface Bar {
	readonly name: string;
	readonly value: number;
	/** The text at its end. */
	readonly says: string;
	readonly colour: string;
}

export interface BarsOptions {
	readonly title: string;
	readonly subtitle?: string;
	readonly share?: number;
}

const tickType = { size: theme.size.tick };
const barHeight = 20;
const space = 7;

/** Horizontal bars, each with its name on the left and its value on the right. */
export function barsPanel(bars: readonly Bar[], options: BarsOptions): Panel {
	return {
		...options,
		height: bars.length * barHeight + 2,
		plot: (width) => {
			const most = width * 0.56;
			const names = bars.map(({ name }) => fitted(name, most, tickType));
			const values = bars.map(({ says }) => says);
			return {
				marginLeft: widest(names, tickType) + space,
				marginRight: widest(values, tickType) + space,
				marginTop: 0,
				marginBottom: 2,
				x: { domain: [0, Math.max(1, ...bars.map(({ value }) => value))], axis: null },
				y: { domain: [...bars.keys()], type: "band", padding: 0.28, round: false, label: null },
				marks: [
					axisY({ tickSize: 0, tickPadding: space, tickFormat: (at: number) => names[at] ?? "" }),
					barX(bars, { x: "value", y: (_, at) => at, fill: "colour" }),
					text(bars, {
						x: "value",
						y: (_, at) => at,
						text: "says",
						textAnchor: "start",
						dx: 5,
						fill: theme.quiet,
					}),
				],
			};
		},
	};
}
