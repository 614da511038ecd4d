/** Colours, type and space of every figure. Sizes are in pixels of the final drawing. */
export const theme = {
	/** All but the last of the stack have the advance widths of Arial, which `text.ts` reckons with. */
	font: "Arial, 'Liberation Sans', Arimo, Helvetica, sans-serif",
	size: { title: 20, panel: 14, text: 12, tick: 11, small: 10 },
	width: 960,
	margin: 28,
	/** Between panels. */
	gap: { across: 36, down: 30 },
	ink: "#1c2430",
	quiet: "#5a6472",
	grid: "#e3e7ec",
	background: "#ffffff",
	/** Behind a part of a plot. */
	shade: "#f2f5f8",
	/** A single series. */
	accent: "#0072b2",
	/** A second series; lighter in grey than the accent. */
	second: "#d98c00",
	/** What to look at, beside the accent; as dark as it, so never the only difference. */
	strong: "#b5380f",
	/** What stands beside a series, or in no category. */
	neutral: "#a8b0ba",
	/** Okabe and Ito (2008): told apart in all common forms of colour blindness. */
	splits: { train: "#0072b2", valid: "#d98c00", test: "#009e73" },
	/** Tol's muted scheme (SRON/EPS/TN/09-002): nine, likewise. */
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
	/** From little to much; the name of a scheme of Plot's, even in lightness. */
	sequential: "viridis",
} as const;

/** Of a panel that has a row of a figure to itself. */
export const rowWidth = theme.width - 2 * theme.margin;

/** A colour for each name, in the order given; those that come too late for one are neutral. */
export function categoryColours(
	names: readonly (string | null)[],
): (name: string | null) => string {
	const named = names.filter((name) => name !== null);
	const colours = new Map(named.map((name, at) => [name, theme.categorical[at] ?? theme.neutral]));
	return (name) => (name === null ? theme.neutral : (colours.get(name) ?? theme.neutral));
}
