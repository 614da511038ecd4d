import { textWidth } from "../../../src/evaluate/charts/text.js";

interface DateLineProps {
	readonly x: number;
	readonly top: number;
	readonly bottom: number;
	/** The text stays between these. */
	readonly least: number;
	readonly most: number;
	readonly words: string;
}

/** The date of prediction, written above its line. */
export function DateLine({ x, top, bottom, least, most, words }: DateLineProps) {
	const half = textWidth(words, { size: 12, bold: true }) / 2 + 2;
	return (
		<g>
			<line className="date-line" x1={x} x2={x} y1={top} y2={bottom} />
			<text
				className="date-words"
				x={Math.max(least + half, Math.min(most - half, x))}
				y={12}
				textAnchor="middle"
			>
				{words}
			</text>
		</g>
	);
}
