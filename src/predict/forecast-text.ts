import { percent, table } from "../base/table.js";
import type { TimeAxis } from "../base/time.js";
import type { NewPatient } from "../data/cohort/index.js";
import type { Vocabulary } from "../data/cohort/vocabulary.js";
import type { LikelyToken } from "./code-probabilities.js";
import { placeOf } from "./trajectories.js";
import { dayText, type Moment, momentJson, patientText } from "./user-input/moments.js";

export function likelyJson({ token, probability }: LikelyToken, vocabulary: Vocabulary) {
	const { code, system, name, category } = vocabulary.tokens[token];
	return { code, system, name, category, probability };
}

/** What is likely at the times of a patient, the most likely first, given that something is recorded then. */
export type PatientForecast = ReturnType<typeof forecastJson>;

export function forecastJson(
	{ id, sex, birth, death, history }: NewPatient,
	axis: TimeAxis,
	answers: readonly { readonly time: number; readonly codes: readonly LikelyToken[] }[],
	moments: readonly Moment[],
	vocabulary: Vocabulary,
) {
	const last = history.times.at(-1);
	const when = (time: number) => momentJson(time, birth, axis);
	return {
		id,
		sex,
		birth: birth === null ? null : when(birth),
		death: death === null ? null : when(death),
		events: history.tokens.length - history.birthEvents,
		last: last === undefined ? null : when(last),
		answers: answers.map(({ time, codes }, query) => ({
			at: moments[query]?.text,
			...when(time),
			place: placeOf(history, time),
			top: codes.map((likely) => likelyJson(likely, vocabulary)),
		})),
	};
}

/** Maximum number of times side by side in one table. */
const mostColumns = 3;
const probabilityWidth = 7;
const leastWidth = 14;

/** A patient's predictions, as tables no wider than `columns`. */
export function forecastText(
	patient: NewPatient,
	{ answers }: PatientForecast,
	axis: TimeAxis,
	columns: number,
): string {
	const heading = ({ at = "", day, ageYears, place }: (typeof answers)[number]) => {
		const since = /^[+-].*[a-z]$/.test(at) ? `${at}: ` : "";
		const age = ageYears === null ? "" : `, age ${ageYears.toFixed(1)}`;
		const mark = place === "before" ? " (no event yet)" : "";
		return `${since}${dayText(day, axis)}${age}${mark}`;
	};
	const perTable = Math.min(mostColumns, answers.length);
	const width = Math.max(
		leastWidth,
		Math.floor((columns - 2 * (perTable - 1)) / perTable) - probabilityWidth - 2,
	);
	const parts = [`${patientText(patient, axis)}\n`];
	for (let first = 0; first < answers.length; first += perTable) {
		const columns = answers.slice(first, first + perTable);
		const headings = columns.map((answer) => cut(heading(answer), width + probabilityWidth + 2));
		const rows = Math.max(...columns.map(({ top }) => top.length));
		const cells = Array.from({ length: rows }, (_, rank) =>
			columns.flatMap(({ top }, i) => {
				if (rank >= top.length) return ["", ""];
				const { code, name, probability } = top[rank];
				const text = name === code ? code : `${code} ${name}`;
				const wide = (headings[i]?.length ?? 0) - probabilityWidth - 2;
				return [cut(text, width).padEnd(wide), percent(probability).padStart(probabilityWidth)];
			}),
		);
		const header = headings.flatMap((text) => [text, ""]);
		parts.push("\n", spanned(header, cells));
	}
	return parts.join("");
}

const cut = (text: string, width: number) =>
	text.length <= width ? text : `${text.slice(0, width - 1)}…`;

/** A table in which a heading may extend over the column to its right. */
function spanned(header: readonly string[], rows: readonly (readonly string[])[]): string {
	const body = table(
		header.map(() => ""),
		rows,
	)
		.split("\n")
		.slice(1);
	const widths = header.map((_, at) => Math.max(0, ...rows.map((row) => row[at]?.length ?? 0)));
	const line = header.reduce((text, name, at) => {
		const starts = widths.slice(0, at).reduce((sum, width) => sum + width + 2, 0);
		return name === "" ? text : text.padEnd(starts) + name;
	}, "");
	return [line, ...body].join("\n");
}
