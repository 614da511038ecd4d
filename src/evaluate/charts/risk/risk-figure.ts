import { spanText } from "../../../predict/user-input/moments.js";
import { timeName } from "../clock.js";
import type { Figure } from "../figure.js";
import { counted, facts, percent, sentences } from "../numbers.js";
import { endLabels, riskFrame, riskPanel } from "./curves.js";
import { linesOf, numberedSurges, partOf, type RiskPicture, riskAt } from "./picture.js";
import { growthPanel, surgeEvents, surgeHeading, surgeNotesPanel } from "./surges.js";

const mostSurges = 12;

/**
 * Risk trajectories of one patient, their growth, and the events recorded at surges. First and further records have
 * panels of their own: the probability of another record is often near 1, and would flatten all others.
 */
export function riskFigure(picture: RiskPicture): Figure {
	const { patient, clock, now, horizonDays, simulated = false, events, death } = picture;
	const lines = linesOf(picture);
	const codes = lines.filter(({ edit }) => edit === undefined);
	const horizon = spanText(horizonDays);
	const title = `Risk within ${horizon} of ${patient}${codes.length === 1 ? `: ${codes[0].name}` : ""}`;
	if (codes.length === 0)
		return {
			title,
			description: "No disease was asked about at any time, so there is no risk to draw.",
			rows: [],
			notes: ["No risk to draw."],
		};
	const parts = [false, true].flatMap((recorded) => {
		const part = partOf(lines, recorded);
		return part.length > 0 ? [{ recorded, lines: part }] : [];
	});
	const marginRight = Math.max(...parts.map(({ lines }) => endLabels(lines, clock).room));
	const frames = parts.map((part, index) =>
		riskFrame(picture, lines, { ...part, isFirst: index === 0, marginRight }),
	);
	// Rises are those of the first quantity: of first records, unless all codes are recorded at all times.
	const [first] = frames;
	const all = first.lines.reduce((sum, { surges }) => sum + surges.length, 0);
	const surges = numberedSurges(first.lines, mostSurges);
	const greatest = surges.toSorted((a, b) => b.growth - a.growth)[0];
	const nowName = timeName(clock, now);
	return {
		title,
		subtitle: facts(
			`${events.length > 0 ? `${counted(events.length, "record")} ` : ""}up to ${nowName}`,
			death !== null && `died at ${timeName(clock, death)}`,
			all > 0 ? counted(all, "significant rise") : "no significant rise",
		),
		description: sentences(
			`Probability of a first record within ${horizon}, over the time of one patient, from the model.`,
			...codes
				.filter(({ points }) => points.some(({ recorded }) => recorded))
				.map(({ name }) => `${name} is recorded: from then on, of another record.`),
			...lines.map((line) => {
				const last = line.points.at(-1)!;
				return line.edit === undefined
					? `${line.name}: ${percent(riskAt(line, now))} at ${nowName}, ${percent(last.risk)} at ${timeName(clock, last.time)}.`
					: `${line.name} ${line.edit}: ${percent(last.risk)} at the end.`;
			}),
			greatest &&
				`The greatest rise: ${surgeHeading(greatest, clock)}, with ${surgeEvents(greatest).slice(0, 5).join(", ")}.`,
		),
		rows: [
			...frames.map((frame) => [riskPanel(picture, frame, frame === first ? surges : [])]),
			[growthPanel(clock, first, surges)],
			surges.length > 0 ? [surgeNotesPanel(clock, codes.length > 1, surges)] : [],
		],
		notes:
			all > surges.length
				? [`The ${surges.length} greatest rises are numbered; ${all - surges.length} are not.`]
				: [],
		simulated,
	};
}
