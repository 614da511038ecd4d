import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { DateOrder } from "../../../src/data/records/dates.js";
import { counted } from "../../../src/evaluate/charts/numbers.js";
import type { FileActions, OpenedFile } from "../files/use-opened-file.js";
import { Button } from "../parts/button.js";
import { Notice } from "../parts/notice.js";
import { TextTable } from "../parts/table.js";
import { codeName } from "../state/patient-context.js";
import { ReadColumns } from "./column-question.js";

/** 3 April 2020 */
const dateText = (day: number): string =>
	new Date(Math.floor(day) * 86_400_000).toLocaleDateString("en-GB", {
		day: "numeric",
		month: "long",
		year: "numeric",
		timeZone: "UTC",
	});

interface FileNotesProps {
	readonly file: Extract<OpenedFile, { readonly state: "read" }>;
	readonly files: FileActions;
	readonly vocabulary: Vocabulary;
}

/** What was read of a file: in one line, and in full. */
export function FileNotes({ file: { file, content, table }, files, vocabulary }: FileNotesProps) {
	const { bad, unknown, notes, dates, preview, axis, patients } = content;
	const events = patients.reduce((sum, { tokens }) => sum + tokens.length, 0);
	const unknownRecords = unknown.reduce((sum, one) => sum + one.records, 0);
	const skipped = [
		...(bad.count > 0
			? [`${counted(bad.count, content.format === "CSV" ? "row" : "resource")} that cannot be read`]
			: []),
		...(unknownRecords > 0
			? [`${counted(unknownRecords, "record")} of codes that the model does not know`]
			: []),
	];
	return (
		<div className="read-notes">
			<p>
				<strong>{file}</strong>: {counted(patients.length, "patient")}, {counted(events, "event")}{" "}
				that the model knows.
				{skipped.length > 0 && ` Skipped: ${skipped.join(", and ")}.`}
			</p>
			<details>
				<summary>How it was read</summary>
				{table && <ReadColumns table={table} onColumns={files.readColumns} />}
				{dates && (
					<p>
						<label>
							Dates{" "}
							<select
								value={dates.order}
								onChange={(event) => files.readDates(event.target.value as DateOrder)}
							>
								<option value="day first">day first: 31/01/2020</option>
								<option value="month first">month first: 01/31/2020</option>
							</select>
						</label>{" "}
						<span className="quiet">
							{dates.isChosen ? "as you chose" : "detected from the dates"}
						</span>
					</p>
				)}
				<ul className="quiet">
					{notes.map((note) => (
						<li key={note}>{sentence(note)}</li>
					))}
				</ul>
				{preview.length > 0 && (
					<TextTable
						caption="The first rows, and how they were read"
						columns={["line", "patient", "time", "read as", "code", "read as a code of the model"]}
						rows={preview.map(({ line, patient, time, day, code, tokens }) => [
							line,
							patient,
							time,
							axis === "dates" ? dateText(day) : `day ${Number(day.toFixed(2))}`,
							code,
							tokens.map((token) => codeName(vocabulary, token)).join(", ") || "not known",
						])}
					/>
				)}
				{bad.count > 0 && (
					<TextTable
						caption={`Skipped, because they cannot be read${bad.count > bad.rows.length ? `: the first ${bad.rows.length} of ${counted(bad.count, "row")}` : ""}`}
						columns={["where", "column", "found", "expected"]}
						rows={bad.rows.map(({ where, column, got, expected }) => [
							where,
							column,
							got,
							expected,
						])}
					/>
				)}
				{unknown.length > 0 && (
					<>
						<p>{counted(unknown.length, "code")} that the model does not know:</p>
						<ul className="unknown">
							{unknown.slice(0, 50).map(({ code, system, records }) => (
								<li key={`${system} ${code}`}>
									{code} <span className="quiet">{system ?? "no system"}</span> × {records}
								</li>
							))}
							{unknown.length > 50 && <li>and {unknown.length - 50} more</li>}
						</ul>
					</>
				)}
			</details>
		</div>
	);
}

const sentence = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;

/** Asks how dates are to be read that can be read in two ways. */
export function DateQuestion({
	asked: { file, dates },
	onDates,
}: {
	readonly asked: Extract<OpenedFile, { readonly state: "asked" }>;
	readonly onDates: FileActions["readDates"];
}) {
	const [first] = dates;
	if (!first) return null;
	return (
		<Notice kind="warning" title={`Which number is the day in ${file}?`}>
			<p>Every date of the file can be read in two ways. For example:</p>
			<TextTable
				caption="Dates of the file"
				columns={["in the file", "day first", "month first"]}
				rows={dates.map(({ text, dayFirst, monthFirst }) => [
					text,
					dateText(dayFirst),
					dateText(monthFirst),
				])}
			/>
			<p className="actions">
				<Button onClick={() => onDates("day first")}>
					Day first: {first.text} is {dateText(first.dayFirst)}
				</Button>{" "}
				<Button onClick={() => onDates("month first")}>
					Month first: {first.text} is {dateText(first.monthFirst)}
				</Button>
			</p>
		</Notice>
	);
}
