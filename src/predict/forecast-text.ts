import { percent, table } from "../base/table.js";
import type { TimeAxis } from "../base/time.js";
import type { NewPatient } from "../data/cohort/index.js";
import type { Vocabulary } from "../data/cohort/vocabulary.js";
import type { LikelyToken } from "./code-probabilities.js";
import type { Place } from "./trajectories.js";
import { ageText, dayText, type Moment, momentJson, patientText } from "./user-input/moments.js";

/** The codes at one time, the most likely first, given that something is recorded then. */
export interface TimeForecast {
	readonly time: number;
	readonly place: Place;
	readonly codes: readonly LikelyToken[];
}

export interface PatientForecast {
	readonly patient: NewPatient;
	readonly answers: readonly TimeForecast[];
}

export interface ForecastContext {
	readonly moments: readonly Moment[];
	readonly axis: TimeAxis;
	readonly vocabulary: Vocabulary;
}

export function likelyJson({ token, probability }: LikelyToken, vocabulary: Vocabulary) {
	const { code, system, name, category } = vocabulary.tokens[token];
	return { code, system, name, category, probability };
}

export function forecastJson(
	{ patient, answers }: PatientForecast,
	{ moments, axis, vocabulary }: ForecastContext,
) {
	const { id, sex, birth, death, history } = patient;
	const last = history.times.at(-1);
	return {
		id,
		sex,
		birth: birth === null ? null : momentJson(birth, patient.birth, axis),
		death: death === null ? null : momentJson(death, patient.birth, axis),
		events: history.tokens.length - history.birthEvents,
		last: last === undefined ? null : momentJson(last, patient.birth, axis),
		answers: answers.map(({ time, place, codes }, query) => ({
			at: moments[query]?.text,
			...momentJson(time, patient.birth, axis),
			place,
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
	{ patient, answers }: PatientForecast,
	{ moments, axis, vocabulary }: ForecastContext,
	columns: number,
): string {
	const heading = ({ time, place }: TimeForecast, at: number) => {
		const { text, kind } = moments[at];
		const day = dayText(time, axis);
		const age = patient.birth === null ? "" : `, age ${ageText(time, patient.birth)}`;
		const mark = place === "before" ? " (no event yet)" : "";
		return `${kind === "since" ? `${text}: ` : ""}${day}${age}${mark}`;
	};
	const perTable = Math.min(mostColumns, answers.length);
	const width = Math.max(
		leastWidth,
		Math.floor((columns - 2 * (perTable - 1)) / perTable) - probabilityWidth - 2,
	);
	const parts = [`${patientText(patient, axis)}\n`];
	for (let first = 0; first < answers.length; first += perTable) {
		const columns = answers.slice(first, first + perTable);
		const headings = columns.map((answer, i) =>
			cut(heading(answer, first + i), width + probabilityWidth + 2),
		);
		const rows = Math.max(...columns.map(({ codes }) => codes.length));
		const cells = Array.from({ length: rows }, (_, rank) =>
			columns.flatMap(({ codes }, i) => {
				const code = codes[rank];
				if (!code) return ["", ""];
				const token = vocabulary.tokens[code.token];
				const text = token.name === token.code ? token.code : `${token.code} ${token.name}`;
				const wide = (headings[i]?.length ?? 0) - probabilityWidth - 2;
				return [
					cut(text, width).padEnd(wide),
					percent(code.probability).padStart(probabilityWidth),
				];
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
