import { type Dispatch, useEffect, useId, useRef, useState } from "react";
import { dayMilliseconds, isoDate } from "../../../src/base/time.js";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import { addingRange, type Patient } from "../data/patient.js";
import { Button } from "../parts/button.js";
import { CodePicker } from "../parts/combobox.js";
import { useRemovalFocus } from "../parts/hooks.js";
import { Panel } from "../parts/panel.js";
import { dayText, momentText } from "../parts/words.js";
import type { Edit } from "../state/edits.js";
import { codeName, usePatient } from "../state/patient-context.js";
import type { Action } from "../state/reducer.js";

/** Changes to the history: a form to add events, and the edits so far. */
export function WhatIfPanel() {
	const { patient, explorer, vocabulary, clock, dispatch } = usePatient();
	const { edits, undone } = explorer;
	const ref = useRef<HTMLElement>(null);
	const list = useRef<HTMLUListElement>(null);
	const onLeave = useRemovalFocus(list, "button");
	useUndoKeys(dispatch);
	const steps = [
		{ name: "Undo", keys: "Ctrl+Z", type: "undo", isOff: undone.before.length === 0 },
		{ name: "Redo", keys: "Ctrl+Shift+Z", type: "redo", isOff: undone.after.length === 0 },
		{ name: "Reset to original", keys: undefined, type: "reset", isOff: edits.length === 0 },
	] as const;
	return (
		<Panel
			title="What if"
			className="what-if-panel"
			subtitle={
				edits.length === 0
					? "add an event, or move or remove one in the timeline; nothing is saved"
					: "risks show the value before the edits"
			}
			tools={steps.map(({ name, keys, type, isOff }) => (
				// aria-disabled, not disabled: a disabled button would lose the focus.
				<Button
					key={name}
					className="small"
					title={keys}
					aria-disabled={isOff}
					onClick={() => dispatch({ type })}
				>
					{name}
				</Button>
			))}
		>
			<section className="edit-bar" aria-label="Changes to the history" tabIndex={-1} ref={ref}>
				<AddForm />
				{edits.length > 0 && (
					<div className="edits">
						<ul aria-label="Edits" ref={list}>
							{edits.map((edit, index) => {
								const words = editWords(edit, patient, vocabulary, clock);
								return (
									<li key={edit.kind === "add" ? edit.event.id : edit.id} className="chip">
										<span>{words}</span>
										<Button
											className="plain"
											aria-label={`Take back: ${words}`}
											onClick={() => {
												if (edits.length === 1) ref.current?.focus();
												else onLeave(index);
												dispatch({ type: "drop", edit });
											}}
										>
											×
										</Button>
									</li>
								);
							})}
						</ul>
					</div>
				)}
			</section>
		</Panel>
	);
}

/** A code and a day: that of the date, unless another is chosen. */
function AddForm() {
	const { patient, explorer, clock, vocabulary, dispatch } = usePatient();
	const id = useId();
	const ref = useRef<HTMLFormElement>(null);
	const [token, setToken] = useState<number | null>(null);
	const [time, setTime] = useState<number | null>(null);
	const [least, most] = addingRange(patient);
	const at = time ?? Math.max(least, Math.floor(explorer.date));
	const byDates = clock.axis === "dates";
	const inputValue = (time: number) => (byDates ? isoDate(time) : Math.round(time));
	return (
		<form
			className="edit-form"
			ref={ref}
			onSubmit={(event) => {
				event.preventDefault();
				if (token === null) return ref.current?.querySelector("input")?.focus();
				dispatch({ type: "add", token, time: at });
				setToken(null);
			}}
		>
			<CodePicker
				label="Add an event"
				placeholder="Add an event: stroke, COPD, I50.9 …"
				vocabulary={vocabulary}
				chosen={token}
				onPick={setToken}
			/>
			<div className="field">
				<label htmlFor={id}>{byDates ? "on" : "on day"}</label>
				<input
					id={id}
					aria-describedby={`${id}-read`}
					type={byDates ? "date" : "number"}
					min={inputValue(least)}
					max={inputValue(most)}
					value={inputValue(at)}
					onChange={({ target: { value } }) => {
						const days = byDates ? Date.parse(value) / dayMilliseconds : Number(value);
						setTime(Number.isFinite(days) && value !== "" ? days : null);
					}}
				/>
				{/* The browser writes the date in an order of its own. */}
				<span id={`${id}-read`} className="quiet read-as">
					{momentText(clock, at)}
				</span>
			</div>
			<button type="submit" className="primary" aria-disabled={token === null}>
				Add
			</button>
		</form>
	);
}

/** `Stroke added, 2012-03-14`; `Gout moved from 2011-02-01 to 2012-03-14` */
export function editWords(
	edit: Edit,
	{ events }: Pick<Patient, "events">,
	vocabulary: Vocabulary,
	clock: Clock,
): string {
	const event = edit.kind === "add" ? edit.event : events.find(({ id }) => id === edit.id);
	if (!event) return "";
	const [name, when] = [codeName(vocabulary, event.token), dayText(clock, event.time)];
	if (edit.kind === "add") return `${name} added, ${when}`;
	if (edit.kind === "remove") return `${name} removed, ${when}`;
	return `${name} moved from ${when} to ${dayText(clock, edit.time)}`;
}

/** Which step a key press means: Ctrl or ⌘ with Z, with Shift for redo; Ctrl+Y also redoes. */
export function stepOf(
	event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">,
): "undo" | "redo" | null {
	if (!(event.ctrlKey || event.metaKey) || event.altKey) return null;
	const key = event.key.toLowerCase();
	if (key === "z") return event.shiftKey ? "redo" : "undo";
	return key === "y" && !event.shiftKey ? "redo" : null;
}

/** Undo and redo by keyboard. A text field keeps the keys for its own text. */
function useUndoKeys(dispatch: Dispatch<Action>): void {
	useEffect(() => {
		const press = (event: KeyboardEvent) => {
			const type = stepOf(event);
			const field = event.target instanceof HTMLInputElement ? event.target : null;
			if (!type || (field?.type === "text" && field.value !== "")) return;
			event.preventDefault();
			dispatch({ type });
		};
		addEventListener("keydown", press);
		return () => removeEventListener("keydown", press);
	}, [dispatch]);
}
