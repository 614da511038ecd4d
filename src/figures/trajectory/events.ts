import type { Clock } from "../clock.js";

export interface TrajectoryEvent {
	readonly time: number;
	readonly code: string;
	readonly name: string;
	readonly category: string | null;
}

export interface ForecastEvent extends TrajectoryEvent {
	/** Whether its code was among the likeliest. */
	readonly matched: boolean;
}

export interface DiseaseTrajectory {
	readonly patient?: string;
	readonly clock: Clock;
	/** What the model has seen. */
	readonly lookUp: readonly TrajectoryEvent[];
	/** What came after it. */
	readonly forecast: readonly ForecastEvent[];
	/** Codes drawn larger: the disease the picture is about. */
	readonly targets?: readonly string[];
	/** How many of the likeliest codes were taken; 10 unless told. */
	readonly top?: number;
	/** What stands in a row. */
	readonly rows?: "category" | "code";
}

/** Shown to the model, or later and foreseen, or not foreseen. */
export type Fate = "seen" | "matched" | "missed";

/** An event as it is drawn. */
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
