import { percent } from "../../../src/evaluate/charts/numbers.js";
import { fitted } from "../../../src/evaluate/charts/text.js";

interface BarsDrawingProps {
	readonly bars: readonly { readonly name: string; readonly value: number }[];
}

const [width, rowHeight, top] = [520, 24, 6];

/** A list as a figure to save; on the page, the list itself is shown. */
export function BarsDrawing({ bars }: BarsDrawingProps) {
	const most = Math.max(1e-9, ...bars.map(({ value }) => value));
	return (
		<svg
			data-drawing
			className="off-screen"
			width={width}
			height={top + bars.length * rowHeight + 10}
			aria-hidden="true"
		>
			{bars.map(({ name, value }, at) => (
				<g key={name} transform={`translate(12 ${top + at * rowHeight})`}>
					<rect
						className="drawing-bar"
						width={(value / most) * (width - 90)}
						height={rowHeight - 5}
						rx={3}
					/>
					<text className="drawing-text" x={6} y={14}>
						{fitted(name, width - 100, { size: 12 })}
					</text>
					<text className="drawing-text" x={width - 24} y={14} textAnchor="end">
						{percent(value)}
					</text>
				</g>
			))}
		</svg>
	);
}
