import { useId, useRef, useState } from "react";
import { dayMilliseconds, isoDate } from "../../../src/base/time.js";
import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import type { Clock } from "../../../src/figures/clock.js";
import type { Patient } from "../data/patient.js";
import type { QueryResult } from "../engine/query-runner.js";
import { ChipList } from "../parts/chip-list.js";
import { CodePicker } from "../parts/code-picker.js";
import { Panel } from "../parts/panel.js";
import { momentText } from "../parts/words.js";
import { addingRange } from "../state/date-range.js";
import type { Edit } from "../state/edits.js";
import { codeName } from "./code-name.js";

interface EditPanelProps {
	readonly patient: Patient;
	readonly edits: readonly Edit[];
	readonly result: QueryResult | null;
	readonly clock: Clock;
	readonly date: number;
	readonly vocabulary: Vocabulary;
	readonly onAdd: (token: number, time: number) => void;
	readonly onUndo: (edit: Edit) => void;
	readonly onReset: () => void;
}

/** The edits of the history, and how long the predictions for them took. */
export function EditPanel({ result, ...bar }: EditPanelProps) {
	const { milliseconds, pass } = result ?? {};
	return (
		<Panel
			title="Edits"
			subtitle={
				bar.edits.length > 0 && milliseconds !== undefined ? (
					<span className="speed" data-milliseconds={milliseconds}>
						updated in {Math.round(milliseconds)} ms
						{pass ? `, from event ${pass.from + 1} on` : ""}
					</span>
				) : (
					"edit the history here; nothing is saved"
				)
			}
		>
			<EditBar {...bar} />
		</Panel>
	);
}

/** A form to add events, and the edits so far. */
function EditBar(props: Omit<EditPanelProps, "result">) {
	const { patient, edits, clock, date, vocabulary, onAdd, onUndo, onReset } = props;
	const id = useId();
	const ref = useRef<HTMLElement>(null);
	const [token, setToken] = useState<number | null>(null);
	const [least, most] = addingRange(patient);
	const usual = Math.max(least, Math.floor(date));
	const [time, setTime] = useState<number | null>(null);
	const at = time ?? usual;
	const byDates = clock.axis === "dates";
	const inputValue = (time: number) => (byDates ? isoDate(time) : Math.round(time));
	const wordsOf = (edit: Edit) => {
		const { token, time } = (edit.kind === "add"
			? edit.event
			: patient.events.find(({ id }) => id === edit.id)) ?? { token: -1, time: 0 };
		const name = codeName(vocabulary, token);
		if (edit.kind === "remove") return `without ${name}, ${momentText(clock, time)}`;
		if (edit.kind === "add") return `with ${name}, ${momentText(clock, time)}`;
		return `${name} moved to ${momentText(clock, edit.time)}`;
	};
	return (
		<section className="edit-bar" aria-label="Changes to the history" tabIndex={-1} ref={ref}>
			<form
				className="edit-form"
				onSubmit={(event) => {
					event.preventDefault();
					if (token === null) return ref.current?.querySelector("input")?.focus();
					onAdd(token, at);
					setToken(null);
				}}
			>
				<CodePicker
					label="Add an event"
					placeholder="stroke, COPD, I50.9 …"
					vocabulary={vocabulary}
					chosen={token}
					onPick={setToken}
				/>
				<div className="field">
					<label htmlFor={id}>{byDates ? "on" : "on day"}</label>
					<input
						id={id}
						type={byDates ? "date" : "number"}
						min={inputValue(least)}
						max={inputValue(most)}
						value={inputValue(at)}
						onChange={({ target: { value } }) => {
							const days = byDates ? Date.parse(value) / dayMilliseconds : Number(value);
							setTime(Number.isFinite(days) && value !== "" ? days : null);
						}}
					/>
				</div>
				<button type="submit" className="primary" aria-disabled={token === null}>
					Add
				</button>
			</form>
			{edits.length === 0 ? (
				<p className="quiet">
					Add an event, or edit one in the timeline: drag it along its row, or select it with a
					click or the arrow keys, then move it with Alt and the arrow keys, or remove it. All
					panels update at once and compare with the original history.
				</p>
			) : (
				<div className="edits">
					<ChipList
						label="Edits"
						onEmpty={() => ref.current?.focus()}
						chips={edits.map((edit) => ({
							key: edit.kind === "add" ? edit.event.id : edit.id,
							content: wordsOf(edit),
							removal: `Undo: ${wordsOf(edit)}`,
							onRemove: () => onUndo(edit),
						}))}
					/>
					<button
						type="button"
						onClick={() => {
							ref.current?.focus();
							onReset();
						}}
					>
						Reset to original
					</button>
				</div>
			)}
		</section>
	);
}
