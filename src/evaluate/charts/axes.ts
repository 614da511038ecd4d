import { axisY, gridY } from "@observablehq/plot";
import { theme } from "./theme.js";

/** An unobtrusive axis. */
export const quietAxis = {
	tickSize: 0,
	color: theme.quiet,
	labelArrow: "none",
	labelAnchor: "center",
} as const;

/** An axis of amounts, with grid lines. */
export const gridAxisY = (
	ticks: number | number[],
	tickFormat: ((value: number) => string) | undefined = undefined,
) => [
	gridY({ ticks, stroke: theme.grid, strokeOpacity: 1 }),
	axisY({ ...quietAxis, label: null, ticks, ...(tickFormat && { tickFormat }) }),
];
