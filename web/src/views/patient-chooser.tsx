import { useId, useRef, useState } from "react";
import type { Clock } from "../../../src/figures/clock.js";
import { timeName } from "../../../src/figures/clock.js";
import { counted } from "../../../src/figures/numbers.js";
import type { Patient } from "../data/patient.js";
import type { Loaded } from "../data/use-loaded.js";
import type { FileRules } from "../files/file-rules.js";
import { acceptedCodes, type FilePatients } from "../files/to-patients.js";
import type { OpenedFile } from "../files/use-opened-file.js";
import { Notice } from "../parts/notice.js";

interface PatientChooserProps {
	/** The date of prediction, in words; null if there is none. */
	readonly date: string | null;
	readonly samples: readonly Patient[];
	readonly opened: readonly Patient[];
	readonly patient: Patient | null;
	readonly clock: Clock;
	readonly file: OpenedFile;
	readonly rules: Loaded<FileRules>;
	readonly onPatient: (patient: Patient) => void;
	readonly onFile: (file: File) => void;
}

/** Chooses the patient: a sample, or one from a file, which is read in the page and never sent. */
export function PatientChooser(props: PatientChooserProps) {
	const { date, samples, opened, patient, clock, file, rules, onPatient, onFile } = props;
	const id = useId();
	const input = useRef<HTMLInputElement>(null);
	const [over, setOver] = useState(false);
	const all = [...samples, ...opened];
	return (
		<section
			className={`chooser${over ? " over" : ""}`}
			aria-label="Patient"
			onDragOver={(event) => {
				if (event.dataTransfer.types.includes("Files")) setOver(true);
			}}
			onDragLeave={() => setOver(false)}
			onDrop={() => setOver(false)}
		>
			<div className="chooser-row">
				<div className="field">
					<label htmlFor={id}>Patient</label>
					<select
						id={id}
						value={patient ? all.indexOf(patient) : -1}
						onChange={(event) => {
							const chosen = all[Number(event.target.value)];
							if (chosen) onPatient(chosen);
						}}
					>
						{!patient && <option value={-1}>choose one</option>}
						{samples.length > 0 && (
							<optgroup label="Samples">
								{samples.map((one, at) => (
									<option key={one.sample} value={at}>
										{one.name} · {one.sex ?? "sex unknown"} · {counted(one.events.length, "event")}
									</option>
								))}
							</optgroup>
						)}
						{opened.length > 0 && (
							<optgroup label="From your file">
								{opened.map((one, at) => (
									<option key={one.name} value={samples.length + at}>
										{one.name} · {counted(one.events.length, "event")}
									</option>
								))}
							</optgroup>
						)}
					</select>
				</div>
				{patient && <p className="person">{personText(patient, clock)}</p>}
				{date !== null && (
					<p className="on-date">
						<span className="quiet">predicted on</span> {date}
					</p>
				)}
				<div className="drop">
					<span className="quiet">drop a CSV or FHIR file, or</span>
					<button
						type="button"
						title="The file is read in this page and never sent"
						onClick={() => input.current?.click()}
					>
						Open a file…
					</button>
					<input
						ref={input}
						type="file"
						className="hidden"
						tabIndex={-1}
						aria-label="File of records"
						accept=".csv,.tsv,.txt,.json,.ndjson,.gz,text/csv,application/json"
						onChange={(event) => {
							const given = event.target.files?.[0];
							if (given) onFile(given);
							event.target.value = "";
						}}
					/>
				</div>
			</div>
			<div aria-live="polite">
				{file.state === "waiting" && <p className="quiet">Reading {file.file}…</p>}
				{file.state === "failed" && (
					<Notice kind="error" title={`${file.file} cannot be used`}>
						<p>{file.message}</p>
						{rules.state === "ready" && (
							<p className="quiet">
								A table needs the columns patient, time and code (and system, if there are several).
								Of codes, {acceptedCodes(rules.value.vocabulary, rules.value.rules)}.
							</p>
						)}
					</Notice>
				)}
				{file.state === "read" && <ReadNotes file={file.file} found={file.found} />}
			</div>
		</section>
	);
}

function ReadNotes({ file, found }: { readonly file: string; readonly found: FilePatients }) {
	const { patients, unknown, notes } = found;
	const events = patients.reduce((sum, { events }) => sum + events.length, 0);
	const records = unknown.reduce((sum, one) => sum + one.records, 0);
	return (
		<div className="read-notes">
			<p>
				<strong>{file}</strong>: {counted(patients.length, "patient")}, {counted(events, "event")}{" "}
				that the model knows.
			</p>
			{notes.map((note) => (
				<p key={note} className="quiet">
					{note}
				</p>
			))}
			{unknown.length > 0 && (
				<details>
					<summary>
						{counted(records, "record")} of {counted(unknown.length, "code")} that the model does
						not know: skipped
					</summary>
					<ul className="unknown">
						{unknown.slice(0, 50).map(({ code, system, records }) => (
							<li key={`${system} ${code}`}>
								{code} <span className="quiet">{system ?? "no system"}</span> × {records}
							</li>
						))}
						{unknown.length > 50 && <li>and {unknown.length - 50} more</li>}
					</ul>
				</details>
			)}
		</div>
	);
}

/** `female, age 41.2 to 63.0, 112 events` */
function personText({ sex, birth, events }: Patient, clock: Clock): string {
	const own = { ...clock, birth };
	const [first, last] = [events[0], events.at(-1)];
	const span =
		first && last
			? `${timeName(own, first.time)} to ${timeName(own, last.time).replace("age ", "")}`
			: "";
	return [sex ?? "sex unknown", span, counted(events.length, "event")].filter(Boolean).join(" · ");
}
