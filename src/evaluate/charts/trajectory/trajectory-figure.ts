import { thousands } from "../../../base/thousands.js";
import { spanName, timeName } from "../clock.js";
import type { Figure } from "../figure.js";
import { legendPanel } from "../legend-panel.js";
import { counted, percent } from "../numbers.js";
import { textWidth } from "../text.js";
import { theme } from "../theme.js";
import { type DiseaseTrajectory, drawnEvents, type Fate } from "./events.js";
import { markStyles } from "./marks.js";
import { timelinePanel } from "./timeline-panel.js";

/** Columns of the legend; a long name needs wider ones. */
const columnsFor = (targetName: string) =>
	targetName === "" ? 3 : textWidth(larger(targetName), { size: theme.size.tick }) < 190 ? 4 : 2;

const larger = (name: string) => `larger: ${name}`;

/** One patient's events: those shown to the model, and which of the later ones it predicted. */
export function trajectoryFigure(trajectory: DiseaseTrajectory): Figure {
	const { patient, clock, lookUp, forecast, targets = [], top = 10, death } = trajectory;
	const events = drawnEvents(trajectory);
	const matched = forecast.filter(({ matched }) => matched).length;
	const recall = forecast.length > 0 ? percent(matched / forecast.length) : undefined;
	const targetNames = [...lookUp, ...forecast]
		.filter(({ code }) => targets.includes(code))
		.map(({ name, code }) => name || code);
	const targetName = [...new Set(targetNames)].join(", ");
	const title = patient === undefined ? "Disease trajectory" : `Disease trajectory of ${patient}`;
	const times = events.map(({ time }) => time);
	const diagnosis = events.filter(({ target }) => target).map(({ time }) => time);
	const span =
		times.length > 0 ? spanName(clock, Math.min(...times), Math.max(...times)) : "no events";
	const foreseen = `${thousands(matched)} of ${counted(forecast.length, "later event")} ${matched === 1 ? "was" : "were"} among the ${top} likeliest codes at their time`;
	const styles = markStyles();
	const count = (fate: Fate) => thousands(events.filter((event) => event.fate === fate).length);
	return {
		title,
		subtitle: [
			span,
			...(recall === undefined ? [] : [`recall@${top} ${recall}`]),
			...(diagnosis.length > 0
				? [`dashed: ${targetName} first recorded, ${timeName(clock, Math.min(...diagnosis))}`]
				: []),
			...(death === undefined || death === null ? [] : [`died at ${timeName(clock, death)}`]),
		].join(" · "),
		description: `${title}, ${span}: the model saw ${counted(lookUp.length, "event")}. ${
			recall === undefined ? "No event came after." : `${foreseen}, a recall of ${recall}.`
		}`,
		rows:
			events.length === 0
				? []
				: [
						[timelinePanel(trajectory, events, recall)],
						[
							legendPanel(
								[
									{ name: "seen in the look-up window", says: count("seen"), style: styles.seen },
									{
										name: `among the ${top} likeliest`,
										says: count("matched"),
										style: styles.matched,
									},
									{ name: "not among them", says: count("missed"), style: styles.missed },
									...(targetName === ""
										? []
										: [{ name: larger(targetName), style: markStyles(true).matched }]),
								],
								{ title: "Events", columns: columnsFor(targetName) },
							),
						],
					],
		notes: events.length === 0 ? ["This patient has no events."] : [],
	};
}
