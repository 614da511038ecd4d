import { useId, useMemo, useRef, useState } from "react";
import type { Clock } from "../../../src/figures/clock.js";
import { fitted, textWidth } from "../../../src/figures/text.js";
import { useWidth } from "../parts/use-width.js";
import { momentText } from "../parts/words.js";
import { DateSlider } from "./date-slider.js";
import { EventMark } from "./event-mark.js";
import { gutter } from "./gutter.js";
import { TimeAxis } from "./time-axis.js";
import { panned, timeScale, zoomed } from "./time-scale.js";
import { type Mark, type PlacedMark, timelineLayout } from "./timeline-layout.js";

export interface TimelineProps {
	readonly marks: readonly Mark[];
	readonly clock: Clock;
	readonly date: number;
	readonly whole: readonly [from: number, to: number];
	readonly zoom: readonly [from: number, to: number] | null;
	readonly dates: readonly [first: number, last: number];
	/** Colours of codes whose risk is drawn. */
	readonly colourOf: (token: number) => string | undefined;
	readonly describe: (mark: Mark) => string;
	readonly onDate: (date: number) => void;
	readonly onZoom: (zoom: readonly [number, number] | null) => void;
	/** Where events can be changed. */
	readonly onMove?: (id: string, time: number) => void;
	readonly onRemove?: (id: string) => void;
}

const [axisHeight, headHeight] = [40, 38];

/** What befell a patient, by category; the date that is asked about; what was foreseen after it. */
export function Timeline(props: TimelineProps) {
	const { marks, clock, date, whole, zoom, dates, colourOf, describe } = props;
	const { onDate, onZoom, onMove, onRemove } = props;
	const id = useId();
	const [ref, width] = useWidth<HTMLDivElement>();
	const [active, setActive] = useState<string | null>(null);
	const [hovered, setHovered] = useState<PlacedMark | null>(null);
	const dragging = useRef<{ readonly id: string; readonly apart: number } | null>(null);
	const { left, right, narrow } = gutter(width);
	const scale = timeScale(zoom ?? whole, left, Math.max(10, width - left - right));
	const layout = useMemo(
		() =>
			timelineLayout(
				marks,
				timeScale(zoom ?? whole, left, Math.max(10, width - left - right)).x,
				narrow ? 15 : 0,
			),
		[marks, zoom, whole, left, right, width, narrow],
	);
	const bottom = headHeight + layout.height;
	const all = useMemo(
		() => layout.rows.flatMap((row) => row.marks).sort((a, b) => a.time - b.time || a.y - b.y),
		[layout],
	);
	const focused = all.find((mark) => mark.id === active);
	const told = hovered ?? focused ?? null;
	const beyond = Math.max(left, Math.min(left + scale.width, scale.x(date)));
	const month = 30.4375 / clock.unitDays;

	const onKey = (event: React.KeyboardEvent) => {
		const at = all.findIndex((mark) => mark.id === active);
		const mark = all[at];
		const { key } = event;
		if (mark && onMove && event.altKey && (key === "ArrowLeft" || key === "ArrowRight"))
			onMove(mark.id, mark.time + (key === "ArrowLeft" ? -month : month));
		else if (key === "ArrowRight" || key === "ArrowDown")
			setActive(all[Math.min(all.length - 1, at + 1)]?.id ?? null);
		else if (key === "ArrowLeft" || key === "ArrowUp")
			setActive(all[Math.max(0, at - 1)]?.id ?? null);
		else if (key === "Home") setActive(all[0]?.id ?? null);
		else if (key === "End") setActive(all.at(-1)?.id ?? null);
		else if (mark && onRemove && (key === "Delete" || key === "Backspace")) onRemove(mark.id);
		else return;
		event.preventDefault();
	};
	const zoomBy = (factor: number) => {
		const now = zoom ?? whole;
		const middle = scale.inside(date) ? date : (now[0] + now[1]) / 2;
		onZoom(zoomed(whole, now, factor, middle));
	};
	return (
		<div className="timeline">
			<fieldset className={narrow ? "zoom" : "zoom beside"} aria-label="Zoom">
				<button type="button" className="small" onClick={() => zoomBy(0.6)} aria-label="Zoom in">
					+
				</button>
				<button
					type="button"
					className="small"
					onClick={() => zoomBy(1 / 0.6)}
					aria-label="Zoom out"
				>
					−
				</button>
				<button
					type="button"
					className="small"
					disabled={!zoom}
					aria-label="Earlier"
					onClick={() => zoom && onZoom(panned(whole, zoom, -0.4))}
				>
					←
				</button>
				<button
					type="button"
					className="small"
					disabled={!zoom}
					aria-label="Later"
					onClick={() => zoom && onZoom(panned(whole, zoom, 0.4))}
				>
					→
				</button>
				<button type="button" className="small" disabled={!zoom} onClick={() => onZoom(null)}>
					All
				</button>
			</fieldset>
			<div
				className="chart"
				ref={ref}
				onWheel={(event) => {
					if (!event.ctrlKey && !event.metaKey) return;
					const box = event.currentTarget.getBoundingClientRect();
					const around = scale.time(event.clientX - box.left);
					onZoom(zoomed(whole, zoom ?? whole, event.deltaY > 0 ? 1.15 : 1 / 1.15, around));
				}}
			>
				<svg
					data-drawing
					width={width}
					height={bottom + axisHeight}
					aria-label={`Timeline of ${marks.length} events by category`}
				>
					<rect
						className="seen-span"
						x={left}
						y={headHeight}
						width={Math.max(0, beyond - left)}
						height={layout.height}
					/>
					<TimeAxis clock={clock} scale={scale} top={headHeight} bottom={bottom} />
					{layout.rows.map(({ name, top, height }) => (
						<g key={name}>
							<line
								className="grid"
								x1={0}
								x2={width}
								y1={headHeight + top}
								y2={headHeight + top}
							/>
							<text
								className="row-name"
								x={narrow ? 2 : left - 10}
								y={headHeight + top + (narrow ? 13 : height / 2 + 4)}
								textAnchor={narrow ? "start" : "end"}
							>
								{fitted(name, narrow ? width : left - 14, { size: 12 })}
							</text>
						</g>
					))}
					<line className="grid" x1={0} x2={width} y1={bottom} y2={bottom} />
					<DateLine x={beyond} bottom={bottom} width={width} words={momentText(clock, date)} />
					<g
						role="listbox"
						tabIndex={0}
						aria-label={
							onMove
								? "Events; arrows choose one, Alt and arrows move it, Delete removes it"
								: "Events; arrows choose one"
						}
						{...(focused && { "aria-activedescendant": `${id}-${focused.id}` })}
						onKeyDown={onKey}
						onFocus={() => active === null && setActive(all[0]?.id ?? null)}
						onBlur={() => setActive(null)}
					>
						{all.map((mark) =>
							scale.inside(mark.time) ? (
								<EventMark
									key={mark.id}
									mark={mark}
									y={headHeight + mark.y}
									elementId={`${id}-${mark.id}`}
									colour={colourOf(mark.token)}
									active={mark.id === active}
									label={describe(mark)}
									movable={onMove !== undefined && mark.edit !== "removed"}
									onHover={setHovered}
									onDown={(event) => {
										if (!onMove || mark.edit === "removed") return;
										event.currentTarget.setPointerCapture(event.pointerId);
										dragging.current = { id: mark.id, apart: event.clientX - mark.x };
									}}
									onDrag={(event) => {
										const drag = dragging.current;
										if (drag?.id === mark.id)
											onMove?.(drag.id, scale.time(event.clientX - drag.apart));
									}}
									onUp={() => {
										dragging.current = null;
									}}
								/>
							) : null,
						)}
					</g>
				</svg>
				<DateSlider
					clock={clock}
					scale={scale}
					date={date}
					range={dates}
					top={headHeight - 20}
					height={layout.height + 20}
					onDate={onDate}
				/>
				{told && scale.inside(told.time) && (
					<p
						className="tip"
						aria-hidden="true"
						style={{
							left: Math.min(Math.max(4, told.x - 90), Math.max(4, width - 250)),
							top: headHeight + told.y + 12,
						}}
					>
						{describe(told)}
					</p>
				)}
			</div>
		</div>
	);
}

function DateLine({
	x,
	bottom,
	width,
	words,
}: {
	x: number;
	bottom: number;
	width: number;
	words: string;
}) {
	const half = textWidth(words, { size: 12, bold: true }) / 2 + 2;
	return (
		<g>
			<line className="date-line" x1={x} x2={x} y1={headHeight - 12} y2={bottom} />
			<text
				className="date-words"
				x={Math.max(half, Math.min(width - half, x))}
				y={12}
				textAnchor="middle"
			>
				{words}
			</text>
		</g>
	);
}
