import { useMemo, useRef, useState } from "react";
import { groupBy } from "../../../src/evaluate/charts/numbers.js";
import { fitted } from "../../../src/evaluate/charts/text.js";
import type { Caption } from "../parts/caption.js";
import { useWidth } from "../parts/use-width.js";
import { ButtonRow } from "./button-row.js";
import { scatterLabels } from "./scatter-labels.js";
import { symbolStyle } from "./symbols.js";
import { usePlaneZoom } from "./use-plane-zoom.js";

export interface ScatterPoint {
	readonly id: string;
	readonly x: number;
	readonly y: number;
	readonly group: string;
	readonly name: string;
	readonly size?: number;
	/** Drawn with a ring. */
	readonly ringed?: boolean;
	/** Points with a rank are named where there is room, higher ones first. */
	readonly rank?: number;
}

export interface ScatterGroup {
	readonly name: string;
	/** Number of its points. */
	readonly count: number;
	readonly colour: string;
	readonly symbol: number;
}

/** The groups of some points: in a given order, or the largest first. */
export const groupsOf = (
	points: readonly ScatterPoint[],
	colourOf: (at: number) => string,
	order: readonly string[] = [],
): ScatterGroup[] =>
	[...groupBy(points, ({ group }) => group)]
		.sort(([a, those], [b, others]) =>
			order.length > 0 ? order.indexOf(a) - order.indexOf(b) : others.length - those.length,
		)
		.map(([name, of], at) => {
			const place = order.length > 0 ? order.indexOf(name) : at;
			return { name, count: of.length, colour: colourOf(place), symbol: order.length > 0 ? 0 : at };
		});

/** The legend for copies of the drawing. */
export const captionOf = (groups: readonly ScatterGroup[]): Caption =>
	groups.map(({ name, colour, symbol }) => ({
		text: name,
		symbol: symbolStyle(symbol, 4.4, colour),
	}));

interface ScatterProps {
	readonly points: readonly ScatterPoint[];
	readonly groups: readonly ScatterGroup[];
	/** Highlighted points; the others fade. Null highlights all. */
	readonly lit: ReadonlySet<string> | null;
	readonly chosen: string | null;
	/** A marked place. */
	readonly here?: { readonly x: number; readonly y: number; readonly name: string } | null;
	/** Points that a click finds before others that are about as near. */
	readonly prefers?: (id: string) => boolean;
	readonly onChoose?: (id: string) => void;
	readonly label: string;
}

const margin = 18;
/** The pointer selects points within so many pixels. */
const reach = 12;
/** A preferred point may be twice as far from the pointer as another. */
const preference = 0.25;

/** Keeps a text above a point inside the frame. */
const anchorAt = (x: number, width: number) =>
	x < 90 ? "start" : x > width - 90 ? "end" : "middle";

/** The height of some points by their width. */
function aspectOf(points: readonly ScatterPoint[]): number {
	const extent = (values: readonly number[]) => Math.max(...values) - Math.min(...values);
	const aspect = extent(points.map(({ y }) => y)) / extent(points.map(({ x }) => x));
	return Number.isFinite(aspect) ? aspect : 0.66;
}

/** Points in the plane, with zoom and pan. Only distances matter: the axes have no meaning. */
export function Scatter(props: ScatterProps) {
	const { points, groups, lit, chosen, here, prefers = () => false, onChoose, label } = props;
	const [ref, width] = useWidth<HTMLDivElement>();
	const frameRef = useRef<HTMLDivElement>(null);
	const [hovered, setHovered] = useState<string | null>(null);
	const shape = useMemo(() => aspectOf(points), [points]);
	const inner = Math.max(0, width - 2 * margin) * shape;
	const height = Math.round(Math.min(600, Math.max(220, inner + 2 * margin)));
	const frame = [width, height] as const;
	const { zoom, zoomBy, reset, wasDragged, handlers } = usePlaneZoom(frameRef, frame);
	const place = useMemo(() => {
		const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
		const [left, right] = [Math.min(...xs), Math.max(...xs)];
		const [low, high] = [Math.min(...ys), Math.max(...ys)];
		const scale = Math.min(
			(width - 2 * margin) / (right - left || 1),
			(height - 2 * margin) / (high - low || 1),
		);
		return ({ x, y }: { readonly x: number; readonly y: number }) => ({
			x: zoom.left + zoom.scale * (width / 2 + (x - (left + right) / 2) * scale),
			y: zoom.top + zoom.scale * (height / 2 - (y - (low + high) / 2) * scale),
		});
	}, [points, width, height, zoom]);
	const shrink = Math.max(0.65, Math.min(1, width / 640)) * Math.sqrt(Math.sqrt(zoom.scale));
	const styles = useMemo(() => new Map(groups.map((group) => [group.name, group])), [groups]);
	const labels = useMemo(
		() =>
			scatterLabels(
				points.flatMap(({ id, name, x, y, rank }) =>
					rank === undefined || (lit && !lit.has(id))
						? []
						: [{ id, name, rank, ...place({ x, y }) }],
				),
				[width, height],
			),
		[points, lit, place, width, height],
	);
	const nearest = (event: React.MouseEvent<HTMLElement>): string | null => {
		const box = event.currentTarget.getBoundingClientRect();
		let [best, least] = [null as string | null, reach ** 2];
		for (const point of points) {
			const { x, y } = place(point);
			const squares = (x - event.clientX + box.left) ** 2 + (y - event.clientY + box.top) ** 2;
			const distance = squares * (prefers(point.id) ? preference : 1);
			if (squares < reach ** 2 && distance < least) [best, least] = [point.id, distance];
		}
		return best;
	};
	// Drawn once per view: thousands of marks must not follow every move of the pointer.
	const marks = useMemo(
		() =>
			points.map((point) => {
				const { x, y } = place(point);
				const { colour = "var(--quiet)", symbol = 0 } = styles.get(point.group) ?? {};
				const faded = lit !== null && !lit.has(point.id);
				const isChosen = point.id === chosen;
				const r = (point.size ?? 4) * shrink * (isChosen ? 1.5 : 1);
				const { path, fill, stroke, isHollow } = symbolStyle(symbol, r, colour);
				return (
					<g
						key={point.id}
						className={faded ? "faded" : ""}
						transform={`translate(${x.toFixed(1)} ${y.toFixed(1)})`}
					>
						{point.ringed && <circle className="ring" r={r + 3.5} />}
						<path
							className={`point${isChosen ? " chosen-point" : ""}`}
							d={path}
							fill={fill}
							stroke={isHollow ? stroke : "var(--surface)"}
							strokeWidth={isHollow ? 1.6 : 0.7}
						/>
					</g>
				);
			}),
		[points, place, styles, lit, chosen, shrink],
	);
	const described = points.find(({ id }) => id === hovered);
	const at = described && place(described);
	const hereAt = here && place(here);
	return (
		<div className="chart scatter" ref={ref}>
			<ButtonRow
				className="zoom"
				label={`Zoom: ${label}`}
				buttons={[
					["+", "Zoom in", false, () => zoomBy(1.6)],
					["−", "Zoom out", zoom.scale === 1, () => zoomBy(1 / 1.6)],
					["All", "Show all", zoom.scale === 1, reset],
				]}
			/>
			<section
				ref={frameRef}
				className={`scatter-frame${zoom.scale > 1 ? " zoomed" : ""}${hovered !== null && onChoose ? " choosable" : ""}`}
				aria-label={`${label}. Arrow keys move, plus and minus zoom`}
				// biome-ignore lint/a11y/noNoninteractiveTabindex: keys move and zoom the drawing
				tabIndex={0}
				onKeyDown={handlers.onKeyDown}
				onPointerDown={handlers.onPointerDown}
				onPointerMove={(event) => {
					handlers.onPointerMove(event);
					setHovered(nearest(event));
				}}
				onPointerLeave={() => setHovered(null)}
				onClick={(event) => {
					const id = wasDragged() ? null : nearest(event);
					if (id !== null) onChoose?.(id);
				}}
			>
				<svg data-drawing width={width} height={height} role="img" aria-label={label}>
					{width > 0 && (
						<>
							{marks}
							{labels.map(({ id, text, placed: { x, y } }) => (
								<text key={id} className="point-name" x={x} y={y + 4} textAnchor="middle">
									{text}
								</text>
							))}
							{here && hereAt && (
								<g className="here" transform={`translate(${hereAt.x} ${hereAt.y})`}>
									<circle className="here-place" r={5} />
									<path d="M0 0L-9.5 -21A11.2 11.2 0 1 1 9.5 -21Z" />
									<circle className="here-eye" cy={-26.5} r={4.2} />
									<text y={-43} textAnchor={anchorAt(hereAt.x, width)}>
										{here.name}
									</text>
								</g>
							)}
						</>
					)}
				</svg>
			</section>
			{described && at && (
				<p
					className="tip"
					aria-hidden="true"
					style={{
						left: Math.min(Math.max(4, at.x + 10), Math.max(4, width - 240)),
						top: at.y + 44,
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
