import type { PlotOptions } from "@observablehq/plot";

/** One plot of a figure. */
export interface Panel {
	readonly title: string;
	/** What is counted, and in which unit. */
	readonly subtitle?: string;
	/** Height of the plot, without titles. */
	readonly height: number;
	/** Its share of the row's width, relative to panels of share 1. */
	readonly share?: number;
	/** The plot for a given width. Size, font and colour of text come from the theme. */
	readonly plot: (width: number) => PlotOptions;
}

/** A figure as a specification: panels that are not laid out yet. */
export interface Figure {
	readonly title: string;
	readonly subtitle?: string;
	/** Alternative text: one or two sentences with the main numbers. */
	readonly description: string;
	readonly width?: number;
	readonly rows: readonly (readonly Panel[])[];
	/** Notes below the panels. */
	readonly notes?: readonly string[];
	/** Whether it shows a simulated population: the drawing and its alternative text then say so. */
	readonly simulated?: boolean;
}
