import { useEffect, useId, useMemo, useRef, useState } from "react";
import { monthDays, yearDays } from "../../../src/base/time.js";
import { textWidth } from "../../../src/evaluate/charts/text.js";
import { Button } from "../parts/button.js";
import { useWidth } from "../parts/hooks.js";
import { momentText } from "../parts/words.js";
import { usePatient } from "../state/patient-context.js";
import {
	gutter,
	panned,
	showing,
	ticksOf,
	timeScale,
	wheelFactor,
	wholeDomain,
	zoomed,
} from "./time-scale.js";
import { DateSlider, useEventDrag } from "./timeline-drag.js";
import {
	drawingOrder,
	lookAheadYears,
	type Mark,
	markText,
	nearestMark,
	type PlacedMark,
	type TimelineRow,
	timelineLayout,
} from "./timeline-layout.js";
import { EventMark, RowName } from "./timeline-marks.js";

const [axisHeight, headHeight] = [40, 44];
const closestDays = 28;

interface TimelineProps {
	readonly marks: readonly Mark[];
	/** The model has seen events before this time, in the predictions shown. */
	readonly seenUntil: number;
}

/** A patient's events by category, which can be moved and removed, and the date of prediction. */
export function Timeline({ marks, seenUntil }: TimelineProps) {
	const { events, explorer, clock, colourOf, dispatch } = usePatient();
	const { date, zoom } = explorer;
	const fullDomain = useMemo(
		() =>
			wholeDomain(
				events.map(({ time }) => time),
				date,
				lookAheadYears * yearDays,
			),
		[events, date],
	);
	// The axis must not move under a pointer that drags something.
	const [heldDomain, setHeldDomain] = useState<typeof fullDomain | null>(null);
	const domain = zoom ?? heldDomain ?? fullDomain;
	const onHold = (isHeld: boolean) => setHeldDomain(isHeld ? domain : null);
	const describe = (mark: Mark) => markText(mark, clock);
	const onZoom = (range: typeof zoom) => dispatch({ type: "zoom", zoom: range });
	const onMove = (id: string, time: number) => dispatch({ type: "move", id, time });
	const id = useId();
	const [ref, width] = useWidth<HTMLDivElement>();
	const root = useRef<HTMLDivElement>(null);
	const listbox = useRef<SVGGElement>(null);
	const [active, setActive] = useState<string | null>(null);
	const [hovered, setHovered] = useState<string | null>(null);
	const { left, right, narrow } = gutter(width);
	const scale = useMemo(
		() => timeScale(domain, left, Math.max(10, width - left - right)),
		[domain, left, right, width],
	);
	const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
	const layout = useMemo(
		() => timelineLayout(marks, scale.x, { narrow, opened }),
		[marks, scale, narrow, opened],
	);
	const bottom = headHeight + layout.height;
	const all = useMemo(
		() => layout.rows.flatMap((row) => row.marks).sort((a, b) => a.time - b.time || a.y - b.y),
		[layout],
	);
	const drawn = useMemo(
		() => drawingOrder(all.filter(({ time }) => scale.inside(time))),
		[all, scale],
	);
	const chosen = all.find((mark) => mark.id === active);
	const described = drawn.find((mark) => mark.id === (hovered ?? active));
	const [seenX, dateX] = [seenUntil, date].map((time) =>
		Math.max(left, Math.min(left + scale.width, scale.x(time))),
	) as [number, number];

	const { ticks, format, label } = ticksOf(clock, scale);
	const dateWords = momentText(clock, date);
	const half = textWidth(dateWords, { size: 12, bold: true }) / 2 + 2;
	const wordsLeast = narrow ? 0 : left + 16;

	const choose = (mark: PlacedMark | undefined) => {
		if (!mark) return;
		setActive(mark.id);
		if (!scale.inside(mark.time)) onZoom(showing(fullDomain, zoom, mark.time));
	};
	const leave = (event: React.FocusEvent) => {
		if (!root.current?.contains(event.relatedTarget)) setActive(null);
	};
	const remove = (mark: PlacedMark) => {
		// An added event disappears when removed: its neighbour takes the focus.
		const at = all.indexOf(mark);
		if (mark.edit === "added") choose(all[at + 1] ?? all[at - 1]);
		dispatch({ type: "remove", id: mark.id });
	};
	const onKey = (event: React.KeyboardEvent) => {
		const at = chosen ? all.indexOf(chosen) : -1;
		const { key } = event;
		const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key];
		if (chosen && event.altKey && (key === "ArrowLeft" || key === "ArrowRight")) {
			if (chosen.edit !== "removed") onMove(chosen.id, chosen.time + (way ?? 0) * monthDays);
		} else if (way) choose(all[Math.max(0, Math.min(all.length - 1, at + way))]);
		else if (key === "Home") choose(all[0]);
		else if (key === "End") choose(all.at(-1));
		else if (chosen && (key === "Delete" || key === "Backspace")) remove(chosen);
		else return;
		event.preventDefault();
	};
	const zoomBy = (factor: number, around: number) =>
		onZoom(zoomed(fullDomain, domain, factor, around, closestDays));
	const zoomNow = (factor: number) =>
		zoomBy(factor, scale.inside(date) ? date : (domain[0] + domain[1]) / 2);
	const pan = (part: number) => zoom && onZoom(panned(fullDomain, zoom, part));
	const zoomButtons = [
		["+", "Zoom in", false, () => zoomNow(0.6)],
		["−", "Zoom out", !zoom, () => zoomNow(1 / 0.6)],
		["←", "Earlier", !zoom, () => pan(-0.4)],
		["→", "Later", !zoom, () => pan(0.4)],
		["All", "Show all", !zoom, () => onZoom(null)],
	] as const;
	useWheelZoom(ref, (factor, x) => zoomBy(factor, scale.time(x)));
	const pointers = useEventDrag({
		nearest: (event) => {
			const box = event.currentTarget.getBoundingClientRect();
			return nearestMark(drawn, event.clientX - box.left, event.clientY - box.top - headHeight);
		},
		onHover: (mark) => setHovered(mark?.id ?? null),
		onChoose: (mark) => {
			listbox.current?.focus({ preventScroll: true });
			setActive(mark.id);
		},
		onDrag: (moved, x) => {
			const [from, to] = scale.domain;
			onMove(moved, Math.max(from, Math.min(to, scale.time(x))));
		},
		onHold,
	});
	return (
		<div className="timeline" ref={root}>
			<fieldset className={narrow ? "zoom" : "zoom overlaid"} aria-label="Zoom">
				{zoomButtons.map(([sign, name, isOff, act]) => (
					// aria-disabled, not disabled: a disabled button would lose the focus.
					<Button
						key={name}
						className="small"
						aria-label={name}
						aria-disabled={isOff}
						onClick={() => !isOff && act()}
					>
						{sign}
					</Button>
				))}
			</fieldset>
			<div className="chart" ref={ref}>
				<svg
					data-drawing
					width={width}
					height={bottom + axisHeight}
					viewBox={`0 0 ${width} ${bottom + axisHeight}`}
					aria-label={`Timeline of ${marks.length} events by category`}
					{...pointers}
				>
					<rect
						className="seen-span"
						x={left}
						y={headHeight}
						width={Math.max(0, seenX - left)}
						height={layout.height}
					/>
					{ticks.map((time) => (
						<g key={time}>
							<line
								className="grid"
								x1={scale.x(time)}
								x2={scale.x(time)}
								y1={headHeight}
								y2={bottom}
							/>
							<text className="tick" x={scale.x(time)} y={bottom + 16} textAnchor="middle">
								{format(time)}
							</text>
						</g>
					))}
					<text className="tick" x={left + scale.width} y={bottom + 32} textAnchor="end">
						{label}
					</text>
					{layout.rows.map((row) => (
						<line
							key={rowKey(row)}
							className="grid"
							x1={0}
							x2={width}
							y1={headHeight + row.top}
							y2={headHeight + row.top}
						/>
					))}
					<line className="grid" x1={0} x2={width} y1={bottom} y2={bottom} />
					<line className="date-line" x1={dateX} x2={dateX} y1={headHeight - 12} y2={bottom} />
					<text
						className="date-words"
						x={Math.max(wordsLeast + half, Math.min(width - half, dateX))}
						y={12}
						textAnchor="middle"
					>
						{dateWords}
					</text>
					{layout.rows.map((row) => {
						const isAbove = narrow || row.kind === "code";
						return (
							<RowName
								key={rowKey(row)}
								row={row}
								x={isAbove ? (row.kind === "code" ? 14 : 2) : left - 10}
								y={headHeight + row.top + (isAbove ? 13 : row.height / 2 + 4)}
								width={isAbove ? width - 12 : left - 14}
								anchor={isAbove ? "start" : "end"}
								onToggle={() => setOpened((now) => toggled(now, row.category))}
							/>
						);
					})}
					<g
						ref={listbox}
						role="listbox"
						tabIndex={0}
						aria-label="Events; arrows select one, Alt and arrows move it, Delete removes it"
						{...(chosen &&
							scale.inside(chosen.time) && { "aria-activedescendant": `${id}-${chosen.id}` })}
						onKeyDown={onKey}
						onBlur={leave}
						onFocus={() => {
							if (active === null) choose(all.find(({ time }) => scale.inside(time)) ?? all[0]);
						}}
					>
						{drawn.map((mark) => (
							<EventMark
								key={mark.id}
								x={mark.x}
								y={headHeight + mark.y}
								fate={mark.fate}
								edit={mark.edit}
								elementId={`${id}-${mark.id}`}
								colour={colourOf(mark.token)}
								active={mark.id === active}
								label={describe(mark)}
								movable={mark.edit !== "removed"}
							/>
						))}
					</g>
				</svg>
				<DateSlider
					scale={scale}
					date={date}
					top={headHeight - 20}
					height={layout.height + 20}
					onHold={onHold}
				/>
				{described && (
					<p
						className="tip"
						aria-hidden="true"
						style={{
							left: Math.min(Math.max(4, described.x - 90), Math.max(4, width - 250)),
							top: headHeight + described.y + 14,
						}}
					>
						{describe(described)}
					</p>
				)}
			</div>
			<div className="chosen-event">
				{chosen ? (
					<>
						<span>{describe(chosen)}</span>
						{chosen.edit !== "removed" && (
							<Button
								className="small"
								onBlur={leave}
								onClick={() => {
									listbox.current?.focus({ preventScroll: true });
									remove(chosen);
								}}
							>
								Remove
							</Button>
						)}
					</>
				) : (
					<span className="quiet">
						Drag the date to predict from another day. Click an event to select it, drag it to move
						it.
					</span>
				)}
			</div>
		</div>
	);
}

function toggled(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
	const others = new Set(names);
	if (!others.delete(name)) others.add(name);
	return others;
}

/** A category keeps its key when it is opened, and so the focus. */
const rowKey = ({ kind, category, name }: TimelineRow): string =>
	kind === "code" ? `${category} ${name}` : category;

/**
 * Zooms with Ctrl or ⌘ and the wheel, or a pinch on a touchpad. The listener is not passive, or the
 * browser would zoom the page as well. The wheel alone scrolls as usual.
 */
function useWheelZoom(
	ref: React.RefObject<HTMLElement | null>,
	zoomAt: (factor: number, x: number) => void,
): void {
	const latest = useRef(zoomAt);
	useEffect(() => {
		latest.current = zoomAt;
	});
	useEffect(() => {
		const element = ref.current;
		if (!element) return;
		const onWheel = (event: WheelEvent) => {
			if (!event.ctrlKey && !event.metaKey) return;
			event.preventDefault();
			const { left } = element.getBoundingClientRect();
			latest.current(wheelFactor(event), event.clientX - left);
		};
		element.addEventListener("wheel", onWheel, { passive: false });
		return () => element.removeEventListener("wheel", onWheel);
	}, [ref]);
}
