import { useMemo, useState } from "react";
import { groupBy } from "../../../src/figures/group-by.js";
import { fitted } from "../../../src/figures/text.js";
import type { Caption } from "../parts/caption.js";
import { useWidth } from "../parts/use-width.js";
import { symbolStyle } from "./symbols.js";

export interface ScatterPoint {
	readonly id: string;
	readonly x: number;
	readonly y: number;
	readonly group: string;
	readonly name: string;
	readonly size?: number;
}

export interface ScatterGroup {
	readonly name: string;
	/** Number of its points. */
	readonly count: number;
	readonly colour: string;
	readonly symbol: number;
}

/** The groups of some points, the largest first. */
export const groupsOf = (
	points: readonly ScatterPoint[],
	colourOf: (at: number) => string,
): ScatterGroup[] =>
	[...groupBy(points, ({ group }) => group)]
		.sort(([, a], [, b]) => b.length - a.length)
		.map(([name, of], at) => ({ name, count: of.length, colour: colourOf(at), symbol: at }));

/** The legend for copies of the drawing. */
export const captionOf = (groups: readonly ScatterGroup[]): Caption =>
	groups.map(({ name, colour, symbol }) => ({
		text: name,
		symbol: symbolStyle(symbol, 4.4, colour),
	}));

interface ScatterProps {
	readonly points: readonly ScatterPoint[];
	readonly groups: readonly ScatterGroup[];
	/** Drawn as named crosses. */
	readonly crosses?: readonly { readonly x: number; readonly y: number; readonly name: string }[];
	/** Highlighted points; the others fade. Null highlights all. */
	readonly lit: ReadonlySet<string> | null;
	readonly chosen: string | null;
	readonly onChoose?: (id: string) => void;
	readonly label: string;
}

const margin = 18;
/** The pointer selects points within so many pixels. */
const reach = 12;

/** Points in the plane. Only distances matter: the axes have no meaning. */
export function Scatter({
	points,
	groups,
	crosses = [],
	lit,
	chosen,
	onChoose,
	label,
}: ScatterProps) {
	const [ref, width] = useWidth<HTMLDivElement>();
	const [hovered, setHovered] = useState<string | null>(null);
	const height = Math.round(Math.min(640, Math.max(320, width * 0.66)));
	const place = useMemo(() => {
		const all = [...points, ...crosses];
		const [xs, ys] = [all.map(({ x }) => x), all.map(({ y }) => y)];
		const [left, right, low, high] = [
			Math.min(...xs),
			Math.max(...xs),
			Math.min(...ys),
			Math.max(...ys),
		];
		const scale = Math.min(
			(width - 2 * margin) / (right - left || 1),
			(height - 2 * margin) / (high - low || 1),
		);
		return ({ x, y }: { readonly x: number; readonly y: number }) => ({
			x: width / 2 + (x - (left + right) / 2) * scale,
			y: height / 2 - (y - (low + high) / 2) * scale,
		});
	}, [points, crosses, width, height]);
	const shrink = Math.max(0.65, Math.min(1, width / 640));
	const styles = useMemo(() => new Map(groups.map((group) => [group.name, group])), [groups]);
	const nearest = (event: React.MouseEvent<SVGSVGElement>): string | null => {
		const box = event.currentTarget.getBoundingClientRect();
		let [best, least] = [null as string | null, reach ** 2];
		for (const point of points) {
			const { x, y } = place(point);
			const distance = (x - event.clientX + box.left) ** 2 + (y - event.clientY + box.top) ** 2;
			if (distance < least) [best, least] = [point.id, distance];
		}
		return best;
	};
	const described = points.find(({ id }) => id === (hovered ?? chosen));
	const at = described && place(described);
	return (
		<div className="chart scatter" ref={ref}>
			{/* biome-ignore lint/a11y/useKeyWithClickEvents: with the keyboard, points are chosen from the search */}
			<svg
				data-drawing
				width={width}
				height={height}
				role="img"
				aria-label={label}
				onPointerMove={(event) => setHovered(nearest(event))}
				onPointerLeave={() => setHovered(null)}
				onClick={(event) => {
					const id = nearest(event);
					if (id !== null) onChoose?.(id);
				}}
			>
				{width > 0 &&
					points.map((point) => {
						const { x, y } = place(point);
						const { colour = "var(--quiet)", symbol = 0 } = styles.get(point.group) ?? {};
						const faded = lit !== null && !lit.has(point.id);
						const r = (point.size ?? 4) * shrink * (point.id === chosen ? 1.5 : 1);
						const { path, fill, stroke, isHollow } = symbolStyle(symbol, r, colour);
						return (
							<path
								key={point.id}
								className={`point${faded ? " faded" : ""}${onChoose ? " choosable" : ""}${point.id === chosen ? " chosen-point" : ""}`}
								transform={`translate(${x.toFixed(1)} ${y.toFixed(1)})`}
								d={path}
								fill={fill}
								stroke={isHollow ? stroke : "var(--surface)"}
								strokeWidth={isHollow ? 1.6 : 0.7}
							/>
						);
					})}
				{width > 0 &&
					crosses.map((cross) => {
						const { x, y } = place(cross);
						return (
							<g
								key={cross.name}
								className="decay"
								transform={`translate(${x.toFixed(1)} ${y.toFixed(1)})`}
							>
								<path d="M-6 -6L6 6M-6 6L6 -6" />
								<text x={8} y={4}>
									{cross.name}
								</text>
							</g>
						);
					})}
			</svg>
			{described && at && (
				<p
					className="tip"
					aria-hidden="true"
					style={{
						left: Math.min(Math.max(4, at.x + 10), Math.max(4, width - 240)),
						top: at.y + 10,
					}}
				>
					{fitted(described.name, 420, { size: 13 })}
					<br />
					<span className="quiet">{described.group}</span>
				</p>
			)}
		</div>
	);
}
