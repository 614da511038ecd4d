import type { PlotOptions } from "@observablehq/plot";

/** One plot of a figure. */
export interface Panel {
	readonly title: string;
	/** A line that says what is counted, and in what. */
	readonly subtitle?: string;
	/** Of the plot, titles not counted. */
	readonly height: number;
	/** How much of its row's width it takes, beside panels of share 1. */
	readonly share?: number;
	/** The plot for the width it got. Size, type and colour of text come from the theme. */
	readonly plot: (width: number) => PlotOptions;
}

/** What is drawn: data have become panels, and nothing has been laid out. */
export interface Figure {
	readonly title: string;
	readonly subtitle?: string;
	/** What it shows, with the main numbers, for those who cannot see it: one sentence or two. */
	readonly description: string;
	readonly width?: number;
	readonly rows: readonly (readonly Panel[])[];
	/** Below the panels. */
	readonly notes?: readonly string[];
}
