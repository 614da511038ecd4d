import { symbolStyle } from "./symbols.js";

/** A category's symbol within a line of text. */
export function SymbolMark({
	symbol,
	colour,
}: {
	readonly symbol: number;
	readonly colour: string;
}) {
	const { path, fill, stroke } = symbolStyle(symbol, 4.4, colour);
	return (
		<svg width={14} height={14} viewBox="-7 -7 14 14" aria-hidden="true">
			<path d={path} fill={fill} stroke={stroke} strokeWidth={1.4} />
		</svg>
	);
}
