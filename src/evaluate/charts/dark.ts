import { theme } from "./theme.js";

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
