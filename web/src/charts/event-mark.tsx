import { memo } from "react";
import { markRadius, type PlacedMark } from "./timeline-layout.js";

interface EventMarkProps extends Pick<PlacedMark, "x" | "y" | "fate" | "edit"> {
	readonly elementId: string;
	readonly colour: string | undefined;
	readonly active: boolean;
	readonly label: string;
	readonly movable: boolean;
}

/**
 * An event: hollow if the model saw it, filled if it was predicted, crossed if it was not, struck through if it is
 * removed. Memoised: of hundreds, few change at a time.
 */
export const EventMark = memo((props: EventMarkProps) => {
	const { x, y, fate, edit, elementId, colour, active, label, movable } = props;
	const r = colour ? markRadius + 1.5 : markRadius;
	const cross = r * 0.55;
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
			{edit === "removed" ? (
				<line className="event-strike" x1={x - r - 3} x2={x + r + 3} y1={y} y2={y} />
			) : fate !== "missed" ? null : (
				<path
					className="event-cross"
					d={`M${x - cross} ${y - cross}L${x + cross} ${y + cross}M${x - cross} ${y + cross}L${x + cross} ${y - cross}`}
				/>
			)}
		</g>
	);
});
