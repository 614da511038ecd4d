/** Colours, fonts and spacing of every figure. Sizes are in pixels of the final drawing. */
export const theme = {
	/** All fonts but the last have the advance widths of Arial, which `text.ts` uses. */
	font: "Arial, 'Liberation Sans', Arimo, Helvetica, sans-serif",
	size: { title: 20, panel: 15, text: 13, tick: 12, small: 12 },
	width: 960,
	/** Of a drawing beside another one. */
	halfWidth: 600,
	/** Of a drawing for telephones. */
	narrowWidth: 360,
	margin: 28,
	narrowMargin: 14,
	gap: { across: 36, down: 30 },
	ink: "#1c2430",
	quiet: "#5a6472",
	grid: "#e3e7ec",
	background: "#ffffff",
	/** Background of a part of a plot. */
	shade: "#f2f5f8",
	/** A single series. */
	accent: "#0072b2",
	/** A second series; lighter in grey than the accent. */
	second: "#d98c00",
	/** A highlight next to the accent; equally dark, so never the only difference. */
	strong: "#b5380f",
	/** Comparison series, and points without a category. */
	neutral: "#a8b0ba",
	/** Okabe and Ito (2008): distinguishable in all common forms of colour blindness. */
	splits: { train: "#0072b2", valid: "#d98c00", test: "#009e73" },
	/** Tol's muted scheme (SRON/EPS/TN/09-002): nine colours, likewise distinguishable. */
	categorical: [
		"#332288",
		"#cc6677",
		"#117733",
		"#88ccee",
		"#ddcc77",
		"#882255",
		"#44aa99",
		"#aa4499",
		"#999933",
	],
	/** Plot's scheme for quantities, uniform in lightness. */
	sequential: "viridis",
} as const;

/** The size of a drawing: of a page, of one of two columns, of a telephone. */
export type FigureSize = "wide" | "half" | "narrow";

export const widthOf = (size: FigureSize): number =>
	({ wide: theme.width, half: theme.halfWidth, narrow: theme.narrowWidth })[size];

/** Width of a panel that takes a whole row. */
export const rowWidth = theme.width - 2 * theme.margin;

/** One colour per name, in order; names beyond the palette are neutral. */
export function categoryColours(
	names: readonly (string | null)[],
): (name: string | null) => string {
	const categories = names.filter((name) => name !== null);
	return (name) =>
		theme.categorical[name === null ? -1 : categories.indexOf(name)] ?? theme.neutral;
}

/** Colours of a drawing on a dark page, by those on white. */
const darkColours: Readonly<Record<string, string>> = {
	[theme.background]: "#171b21",
	[theme.shade]: "#1f252d",
	[theme.grid]: "#2c343f",
	[theme.ink]: "#e7eaef",
	[theme.quiet]: "#a5afbb",
	[theme.neutral]: "#7b8694",
	[theme.accent]: "#58b0ea",
	[theme.second]: "#f0b13c",
	[theme.strong]: "#ff8a5c",
	[theme.splits.test]: "#3ecf9f",
	"#332288": "#a99cf0",
	"#cc6677": "#ee8f9f",
	"#117733": "#57b873",
	"#882255": "#d47aa6",
	"#44aa99": "#62cdbb",
	"#aa4499": "#d885ca",
	"#999933": "#c9c95c",
	"#7a6a00": "#c9b53d",
	"#7d8794": "#7b8694",
	"#5f86ad": "#86a3c0",
	"#2f77a8": "#5b9bd0",
	"#0a5a94": "#8fd3ff",
};

/**
 * Style rules that recolour drawings on a dark page: drawings set colours as attributes, which any rule overrides. A
 * drawing saved as a file stays on white.
 */
export const darkRules: string = Object.entries(darkColours)
	.map(
		([light, dark]) =>
			`figure svg [fill="${light}"] { fill: ${dark}; } figure svg [stroke="${light}"] { stroke: ${dark}; }`,
	)
	.concat(`figure svg { color: ${darkColours[theme.ink]}; }`)
	.join("\n\t");
