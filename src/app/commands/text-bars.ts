import type { Io } from "./io.js";

/** Bars and small histograms of text. */
export interface TextBars {
	/** `share` of `width` characters. */
	bar(share: number, width: number): string;
	/** One character per count, scaled to the highest; only a count of zero is blank. */
	spark(counts: readonly number[]): string;
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const heights = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const plainHeights = [".", ":", "-", "=", "+", "*", "%", "#"];

const unicode: TextBars = {
	bar: (share, width) => {
		const parts = Math.max(share > 0 ? 1 : 0, Math.round(share * width * 8));
		return "█".repeat(Math.floor(parts / 8)) + eighths[parts % 8];
	},
	spark: (counts) => sparkOf(counts, heights),
};

const plain: TextBars = {
	bar: (share, width) => "#".repeat(Math.max(share > 0 ? 1 : 0, Math.round(share * width))),
	spark: (counts) => sparkOf(counts, plainHeights),
};

function sparkOf(counts: readonly number[], levels: readonly string[]): string {
	const most = Math.max(...counts);
	return counts
		.map((count) => (count === 0 ? " " : levels[Math.ceil((count / most) * levels.length) - 1]))
		.join("");
}

/** Unicode bars, unless the terminal or the locale is limited to ASCII. */
export function textBarsFor({ env }: Io): TextBars {
	const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "";
	return /^(C|POSIX)$/i.test(locale) || env.TERM === "dumb" ? plain : unicode;
}
