import { useId, useRef, useState } from "react";
import { thousands } from "../../../src/base/thousands.js";
import { yearDays } from "../../../src/base/time.js";
import { acceptedCodes } from "../../../src/data/cohort/reading/records-to-events.js";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import { type Clock, timeName } from "../../../src/evaluate/charts/clock.js";
import { counted, percent } from "../../../src/evaluate/charts/numbers.js";
import type { Usual } from "../data/contract.js";
import { endOfDay, type Patient, type PatientEvent } from "../data/patient.js";
import type { Loaded } from "../data/use-loaded.js";
import { unlikeTraining } from "../files/patient-list.js";
import type { FileRules } from "../files/records.js";
import { mapSizes } from "../files/to-patients.js";
import type { FileActions, OpenedFile } from "../files/use-opened-file.js";
import { Button } from "../parts/button.js";
import { Combobox } from "../parts/combobox.js";
import { Notice } from "../parts/notice.js";
import { momentText } from "../parts/words.js";
import type { ExplorerState } from "../state/reducer.js";
import { ColumnQuestion, ReadColumns } from "./column-question.js";
import { DateQuestion, FileNotes } from "./file-notes.js";

interface PatientChooserProps {
	readonly explorer: ExplorerState;
	readonly samples: readonly Patient[];
	readonly clock: Clock;
	readonly file: OpenedFile;
	readonly files: FileActions;
	readonly rules: Loaded<FileRules>;
	readonly vocabulary: Vocabulary;
	readonly usual: Usual["usual"];
	/** The name of the file that was open before the page was reloaded. */
	readonly lost: string | null;
	readonly onPatient: (patient: Patient) => void;
	readonly onForget: () => void;
}

/** Longer lists are searched. */
const mostInMenu = 30;
const mostFound = 50;

/** Chooses the patient: a sample, or one from a file, which is read in the page and never sent. */
export function PatientChooser(props: PatientChooserProps) {
	const { samples, clock, file, files, rules, lost, onPatient } = props;
	const { date, opened, patient } = props.explorer;
	const id = useId();
	const input = useRef<HTMLInputElement>(null);
	const [over, setOver] = useState(false);
	const place = (patient && opened?.placeOf(patient)) ?? undefined;
	const unlike =
		patient && opened && place !== undefined
			? unlikeTraining(patient, opened.countsAt(place), props.usual)
			: [];
	const inMenu =
		opened && opened.length <= mostInMenu
			? Array.from({ length: opened.length }, (_, at) => at)
			: [];
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
						className="patient-choice"
						value={
							patient
								? place === undefined
									? samples.indexOf(patient)
									: samples.length + place
								: -1
						}
						onChange={(event) => {
							const at = Number(event.target.value);
							const chosen = samples[at] ?? opened?.at(at - samples.length);
							if (chosen) onPatient(chosen);
						}}
					>
						{!patient && <option value={-1}>choose one</option>}
						{opened && place !== undefined && inMenu.length === 0 && (
							<option value={samples.length + place}>{opened.nameAt(place)}</option>
						)}
						{samples.length > 0 && (
							<optgroup label="Samples, predicted from event 50 or after two thirds of fewer than 60">
								{samples.map((one, at) => (
									<option key={one.sample} value={at}>
										{one.name} · {shortPerson(one)} · {counted(one.events.length, "event")}
									</option>
								))}
							</optgroup>
						)}
						{opened && inMenu.length > 0 && (
							<optgroup label="From your file">
								{inMenu.map((at) => (
									<option key={at} value={samples.length + at}>
										{opened.nameAt(at)} · {counted(opened.eventsAt(at), "event")}
									</option>
								))}
							</optgroup>
						)}
					</select>
				</div>
				{opened && inMenu.length === 0 && (
					<Combobox
						className="patient-search"
						label={`of ${thousands(opened.length)} patients`}
						placeholder="search by id"
						value={place === undefined ? undefined : opened.nameAt(place)}
						choicesFor={(text) =>
							opened.find(text, mostFound).places.map((key) => ({
								key,
								content: opened.nameAt(key),
								remark: counted(opened.eventsAt(key), "event"),
							}))
						}
						onPick={(chosen) => onPatient(opened.at(chosen))}
						noneFor={(text) => `No id contains “${text}”.`}
						status={(text) => {
							const { count } = opened.find(text, 0);
							return `${counted(count, "patient")}${count > mostFound ? `; the first ${mostFound} are listed: type more of the id` : ""}`;
						}}
					/>
				)}
				{patient && <p className="person">{personText(patient, clock)}</p>}
				{patient && (
					<p className="on-date">
						<span className="quiet">predicted on</span> {momentText(clock, date)}{" "}
						<span className="quiet">{knownText(patient.events, date)}</span>
					</p>
				)}
				<div className="drop">
					{!opened && <span className="quiet">drop a CSV or FHIR file, or</span>}
					<Button
						title="The file is read in this page and never sent"
						onClick={() => input.current?.click()}
					>
						Open a file…
					</Button>
					<input
						ref={input}
						type="file"
						multiple
						className="hidden"
						tabIndex={-1}
						aria-label="File of records"
						accept=".csv,.tsv,.txt,.json,.ndjson,.gz,text/csv,application/json"
						onChange={(event) => {
							const chosen = [...(event.target.files ?? [])];
							if (chosen.length > 0) files.open(chosen);
							event.target.value = "";
						}}
					/>
				</div>
			</div>
			<div aria-live="polite">
				{lost !== null && file === null && (
					<Notice kind="warning" title={`The page keeps no file: choose ${lost} again`}>
						<p>It was open before the page was loaded again. Nothing of it was stored or sent.</p>
						<p className="actions">
							<Button onClick={() => input.current?.click()}>Choose {lost}…</Button>{" "}
							<Button onClick={props.onForget}>Go on without it</Button>
						</p>
					</Notice>
				)}
				{file?.state === "waiting" && (
					<p className="quiet">
						Reading {file.file}…{" "}
						{file.share > 0 && (
							<>
								<progress value={file.share} aria-label={`Reading ${file.file}`} />{" "}
								{percent(file.share)}
							</>
						)}
					</p>
				)}
				{file?.state === "asked" && <DateQuestion asked={file} onDates={files.readDates} />}
				{file?.state === "columns" && (
					<Notice kind="empty" title={`Which column of ${file.file} is which?`}>
						<p>Choose the columns: {file.problem}.</p>
						<ColumnQuestion table={file.table} onColumns={files.readColumns} />
					</Notice>
				)}
				{file?.state === "map" && (
					<p>
						<strong>{file.file}</strong> is a map of {mapSizes(file)}. Now open a file of records.
					</p>
				)}
				{file?.state === "failed" && (
					<Notice kind="error" title={`${file.file} cannot be used`}>
						<p>{file.message}</p>
						{opened && <p>{opened.file} stays open.</p>}
						{file.table && <ReadColumns table={file.table} onColumns={files.readColumns} />}
						{rules.state === "ready" && (
							<p className="quiet">
								A table needs the columns patient, time and code (and system, if there are several).
								Accepted codes: {acceptedCodes(rules.value.vocabulary, rules.value.rules)}.
							</p>
						)}
					</Notice>
				)}
				{file?.state === "read" && (
					<FileNotes file={file} files={files} vocabulary={props.vocabulary} />
				)}
				{unlike.length > 0 && (
					<Notice kind="warning" title="This history looks unlike the training data">
						<ul>
							{unlike.map((reason) => (
								<li key={reason}>{reason}</li>
							))}
						</ul>
					</Notice>
				)}
			</div>
		</section>
	);
}

/** `female, 41–63` */
function shortPerson({ sex, birth, events }: Patient): string {
	const [first, last] = [events[0], events.at(-1)];
	const age = (time: number) => Math.floor((time - (birth as number)) / yearDays);
	const ages = birth === null || !first || !last ? "" : `, ${age(first.time)}–${age(last.time)}`;
	return `${sex ?? "sex unknown"}${ages}`;
}

/** `female, age 41.2 to 63.0, 112 events` */
function personText({ sex, birth, events }: Patient, clock: Clock): string {
	const patientClock = { ...clock, birth };
	const [first, last] = [events[0], events.at(-1)];
	const span =
		first && last
			? `${timeName(patientClock, first.time)} to ${timeName(patientClock, last.time).replace("age ", "")}`
			: "";
	return [sex ?? "sex unknown", span, counted(events.length, "event")].filter(Boolean).join(" · ");
}

/** How much of a history is known on a date: `after 50 of 341 events`. */
export function knownText(events: readonly PatientEvent[], date: number): string {
	const known = events.filter(({ time }) => time < endOfDay(date)).length;
	return `after ${known} of ${counted(events.length, "event")}`;
}
