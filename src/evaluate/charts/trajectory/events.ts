import type { Clock } from "../clock.js";

export interface TrajectoryEvent {
	readonly time: number;
	readonly code: string;
	readonly name: string;
	readonly category: string | null;
}

export interface ForecastEvent extends TrajectoryEvent {
	/** Whether its code was among the `top` predicted codes. */
	readonly matched: boolean;
}

export interface DiseaseTrajectory {
	readonly patient?: string;
	readonly clock: Clock;
	/** Events shown to the model. */
	readonly lookUp: readonly TrajectoryEvent[];
	/** Events observed after them. */
	readonly forecast: readonly ForecastEvent[];
	/** Codes to draw larger: the disease that the figure is about. */
	readonly targets?: readonly string[];
	/** Number of predicted codes that count as a match. Default: 10. */
	readonly top?: number;
	/** The time of death; null or undefined if alive or unknown. */
	readonly death?: number | null;
	/** What a row contains. */
	readonly rows?: "category" | "code";
}

/** Shown to the model, or later and predicted, or not predicted. */
export type Fate = "seen" | "matched" | "missed";

/** An event of the drawing. */
export interface Drawn {
	readonly time: number;
	readonly row: string;
	readonly fate: Fate;
	readonly target: boolean;
}

export function drawnEvents({
	lookUp,
	forecast,
	targets = [],
	rows = "category",
}: DiseaseTrajectory) {
	const drawn = (event: TrajectoryEvent, fate: Fate): Drawn => ({
		time: event.time,
		row: rows === "code" ? event.name || event.code : (event.category ?? "no category"),
		fate,
		target: targets.includes(event.code),
	});
	return [
		...lookUp.map((event) => drawn(event, "seen")),
		...forecast.map((event) => drawn(event, event.matched ? "matched" : "missed")),
	];
}
