import { useMemo } from "react";
import { type FutureRecord, futurePaths } from "./future-paths.js";
import type { TimeScale } from "./time-scale.js";
import type { TimelineRow } from "./timeline-layout.js";

/** Futures as they are drawn: one lane each in every row. */
export interface TimelineFutures {
	readonly lanes: number;
	readonly records: readonly FutureRecord[];
	/** Times of death. */
	readonly deaths: readonly number[];
}

interface FutureMarksProps {
	readonly futures: TimelineFutures;
	readonly rows: readonly TimelineRow[];
	readonly scale: TimeScale;
	readonly top: number;
	readonly bottom: number;
	readonly colourOf: (token: number) => string | undefined;
	readonly nameOf: (token: number) => string;
}

/** Records of sampled futures, behind the marks. */
export function FutureMarks(props: FutureMarksProps) {
	const { futures, rows, scale, top, bottom, colourOf, nameOf } = props;
	const paths = useMemo(
		() => futurePaths(futures, rows, { scale, top, colourOf, nameOf }),
		[futures, rows, scale, top, colourOf, nameOf],
	);
	const deaths = futures.deaths
		.filter(scale.inside)
		.map((time) => `M${scale.x(time).toFixed(1)} ${bottom - 9}v9`)
		.join("");
	return (
		<g className="future-marks">
			{paths.map(({ key, d, kind, colour, width }) => (
				<path
					key={key}
					className={colour ? "future-chosen" : `future-${kind}`}
					d={d}
					{...(kind === "records" && { strokeWidth: width, stroke: colour })}
				/>
			))}
			{deaths && <path className="future-death" d={deaths} />}
		</g>
	);
}
