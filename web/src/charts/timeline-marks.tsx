import { memo } from "react";
import { fitted } from "../../../src/evaluate/charts/text.js";
import { markRadius, type PlacedMark, type TimelineRow } from "./timeline-layout.js";

interface EventMarkProps extends Pick<PlacedMark, "x" | "y" | "fate" | "edit"> {
	readonly elementId: string;
	readonly colour: string | undefined;
	readonly active: boolean;
	readonly label: string;
	readonly movable: boolean;
}

/**
 * An event: hollow if the model saw it, faint if it came later, struck through if it is removed. Memoised: of
 * hundreds, few change at a time.
 */
export const EventMark = memo((props: EventMarkProps) => {
	const { x, y, fate, edit, elementId, colour, active, label, movable } = props;
	const r = colour ? markRadius + 1.5 : markRadius;
	return (
		<g
			id={elementId}
			role="option"
			aria-selected={active}
			aria-label={label}
			className={`event event-${fate} edit-${edit}${movable ? " movable" : ""}`}
			{...(colour && { style: { color: colour } })}
		>
			<circle className="event-target" cx={x} cy={y} r={12} data-screen-only="" />
			{active && <circle className="event-ring" cx={x} cy={y} r={r + 4} data-screen-only="" />}
			{(edit === "added" || edit === "moved") && (
				<rect
					className="event-edited"
					x={x - r - 3}
					y={y - r - 3}
					width={2 * r + 6}
					height={2 * r + 6}
					rx={3}
				/>
			)}
			<circle className={`event-dot${colour ? " chosen" : ""}`} cx={x} cy={y} r={r} />
			{edit === "removed" && (
				<line className="event-strike" x1={x - r - 3} x2={x + r + 3} y1={y} y2={y} />
			)}
		</g>
	);
});

interface RowNameProps {
	readonly row: Pick<TimelineRow, "kind" | "name">;
	readonly x: number;
	readonly y: number;
	readonly width: number;
	readonly anchor: "start" | "end";
	readonly onToggle: () => void;
}

const markers = { category: "▸", opened: "▾", code: "" } as const;

/** The name of a row; that of a category shows or hides the rows of its codes. */
export function RowName({ row: { kind, name }, x, y, width, anchor, onToggle }: RowNameProps) {
	const text = (
		<text className={`row-name row-name-${kind}`} x={x} y={y} textAnchor={anchor}>
			{`${fitted(name, width - 16, { size: 12 })} ${markers[kind]}`.trim()}
		</text>
	);
	if (kind === "code") return text;
	return (
		// biome-ignore lint/a11y/useSemanticElements: SVG has no button.
		<g
			role="button"
			tabIndex={0}
			aria-expanded={kind === "opened"}
			aria-label={`Codes of ${name}`}
			className="row-toggle"
			onClick={onToggle}
			onKeyDown={(event) => {
				if (event.key !== "Enter" && event.key !== " ") return;
				event.preventDefault();
				onToggle();
			}}
		>
			{text}
		</g>
	);
}
