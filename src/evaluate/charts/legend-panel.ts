import type { DotOptions } from "@observablehq/plot";
import { dot, text } from "@observablehq/plot";
import type { Panel } from "./figure.js";
import { fitted, textWidth } from "./text.js";
import { theme } from "./theme.js";

export interface LegendEntry {
	readonly name: string;
	/** Grey text after the name. */
	readonly says?: string;
	/** Several styles are drawn on top of each other. */
	readonly style: DotOptions | readonly DotOptions[];
}

export interface LegendOptions {
	readonly title: string;
	readonly subtitle?: string;
	readonly share?: number;
	/** Number of columns. Default: 1. */
	readonly columns?: number;
}

const type = { size: theme.size.tick };
const rowHeight = 19;
const nameAt = 16;
const apart = 8;

/** Marks with their names, column by column. */
export function legendPanel(
	entries: readonly LegendEntry[],
	{ columns = 1, ...options }: LegendOptions,
): Panel {
	const down = Math.ceil(entries.length / columns);
	return {
		...options,
		height: down * rowHeight + 2,
		plot: (width) => {
			const columnWidth = width / columns;
			const rows = entries.map(({ name, says = "", style }, at) => {
				const room = columnWidth - 2 * nameAt - (says === "" ? 0 : textWidth(says, type) + apart);
				return {
					x: Math.floor(at / down) * columnWidth,
					y: (at % down) + 0.5,
					name: fitted(name, room, type),
					says,
					styles: [style].flat(),
				};
			});
			return {
				margin: 0,
				x: { domain: [0, width], axis: null },
				y: { domain: [Math.max(1, down), 0], axis: null },
				marks: [
					...rows.flatMap(({ x, y, styles }) =>
						styles.map((style) => dot([0], { x: [x + 8], y: [y], r: 4.5, ...style })),
					),
					text(rows, { x: ({ x }) => x + nameAt + 3, y: "y", text: "name", textAnchor: "start" }),
					text(rows, {
						x: ({ x, name }) => x + nameAt + 3 + textWidth(name, type) + apart,
						y: "y",
						text: "says",
						textAnchor: "start",
						fill: theme.quiet,
					}),
				],
			};
		},
	};
}
