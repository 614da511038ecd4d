import { useId, useRef, useState } from "react";
import { InputError } from "../../../src/base/errors.js";
import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import type { Clock } from "../../../src/figures/clock.js";
import { timeName } from "../../../src/figures/clock.js";
import { counted } from "../../../src/figures/numbers.js";
import type { Patient } from "../data/patient.js";
import { readContent } from "../files/read-file.js";
import {
	acceptedCodes,
	type FilePatients,
	type Treatment,
	toPatients,
} from "../files/to-patients.js";

interface PatientChooserProps {
	readonly samples: readonly Patient[];
	readonly opened: readonly Patient[];
	readonly patient: Patient | null;
	readonly clock: Clock;
	/** Null until the model's codes are known. */
	readonly reading: { readonly vocabulary: Vocabulary; readonly treatment: Treatment } | null;
	readonly onPatient: (patient: Patient, opened?: readonly Patient[]) => void;
}

type Read =
	| { readonly state: "none" }
	| { readonly state: "reading"; readonly file: string }
	| { readonly state: "read"; readonly file: string; readonly found: FilePatients }
	| { readonly state: "failed"; readonly file: string; readonly message: string };

/** Who is looked at: a sample, or somebody from a file that is read here and goes nowhere. */
export function PatientChooser(props: PatientChooserProps) {
	const { samples, opened, patient, clock, reading, onPatient } = props;
	const id = useId();
	const input = useRef<HTMLInputElement>(null);
	const [read, setRead] = useState<Read>({ state: "none" });
	const [over, setOver] = useState(false);

	const open = async (file: File | undefined) => {
		if (!file || !reading) return;
		setRead({ state: "reading", file: file.name });
		try {
			const content = await readContent(new Uint8Array(await file.arrayBuffer()));
			const found = toPatients(content, reading.vocabulary, reading.treatment);
			setRead({ state: "read", file: file.name, found });
			onPatient(found.patients[0] as Patient, found.patients);
		} catch (error) {
			const message =
				error instanceof InputError
					? error.message
					: "the file could not be read; see whether it is still there";
			setRead({ state: "failed", file: file.name, message });
		}
	};
	const all = [...samples, ...opened];
	return (
		<section
			className={`chooser${over ? " over" : ""}`}
			aria-label="Patient"
			onDragOver={(event) => {
				event.preventDefault();
				setOver(true);
			}}
			onDragLeave={() => setOver(false)}
			onDrop={(event) => {
				event.preventDefault();
				setOver(false);
				void open(event.dataTransfer.files[0]);
			}}
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
				<div className="drop">
					<button type="button" disabled={!reading} onClick={() => input.current?.click()}>
						Open a file…
					</button>
					<span className="quiet">
						or drop it here: CSV or FHIR JSON. It is read in this page and never sent.
					</span>
					<input
						ref={input}
						type="file"
						className="hidden"
						tabIndex={-1}
						aria-label="File of records"
						accept=".csv,.tsv,.txt,.json,.ndjson,.gz,text/csv,application/json"
						onChange={(event) => {
							void open(event.target.files?.[0]);
							event.target.value = "";
						}}
					/>
				</div>
			</div>
			<div aria-live="polite">
				{read.state === "reading" && <p className="quiet">Reading {read.file}…</p>}
				{read.state === "failed" && (
					<div className="notice notice-error" role="alert">
						<div>
							<p className="notice-title">{read.file} cannot be used</p>
							<p>{read.message}</p>
							{reading && (
								<p className="quiet">
									A table needs the columns patient, time and code (and system, where codes are of
									several). Of codes, {acceptedCodes(reading.vocabulary, reading.treatment)}.
								</p>
							)}
						</div>
					</div>
				)}
				{read.state === "read" && <ReadNotes file={read.file} found={read.found} />}
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
