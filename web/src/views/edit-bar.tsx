import { useId, useState } from "react";
import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import type { Clock } from "../../../src/figures/clock.js";
import type { Patient } from "../data/patient.js";
import { CodePicker } from "../parts/code-picker.js";
import { dateText, momentText } from "../parts/words.js";
import type { Edit } from "../state/edits.js";

interface EditBarProps {
	readonly patient: Patient;
	readonly edits: readonly Edit[];
	readonly clock: Clock;
	readonly date: number;
	readonly vocabulary: Vocabulary;
	readonly onAdd: (token: number, time: number) => void;
	readonly onUndo: (edit: Edit) => void;
	readonly onReset: () => void;
}

/** What would be different: events to add, and the edits so far. */
export function EditBar(props: EditBarProps) {
	const { patient, edits, clock, date, vocabulary, onAdd, onUndo, onReset } = props;
	const id = useId();
	const [token, setToken] = useState<number | null>(null);
	// A day before the date: what comes at the date itself is not known to the model.
	const usual = date - 1 / clock.unitDays;
	const [time, setTime] = useState<number | null>(null);
	const at = time ?? usual;
	const byDates = clock.axis === "dates";
	const eventOf = (edit: Edit) =>
		edit.kind === "add" ? edit.event : patient.events.find(({ id }) => id === edit.id);
	return (
		<div className="edit-bar">
			<form
				className="edit-form"
				onSubmit={(event) => {
					event.preventDefault();
					if (token === null) return;
					onAdd(token, at);
					setToken(null);
				}}
			>
				<CodePicker
					label="Add an event"
					placeholder="name or number of a code"
					vocabulary={vocabulary}
					chosen={token}
					onPick={setToken}
				/>
				<div className="field">
					<label htmlFor={id}>{byDates ? "on" : "on day"}</label>
					<input
						id={id}
						type={byDates ? "date" : "number"}
						value={byDates ? dateText(clock, at) : Math.round(at * clock.unitDays)}
						onChange={({ target: { value } }) => {
							const days = byDates ? Date.parse(value) / 86_400_000 : Number(value);
							setTime(Number.isFinite(days) && value !== "" ? days / clock.unitDays : null);
						}}
					/>
				</div>
				<button type="submit" className="primary" disabled={token === null}>
					Add
				</button>
			</form>
			{edits.length === 0 ? (
				<p className="quiet">
					Add an event, drag one along its row, or choose one with the arrow keys and move it with
					Alt and the arrows or remove it with Delete. Everything below answers at once, beside the
					history as it was.
				</p>
			) : (
				<div className="edits">
					<ul aria-label="Edits">
						{edits.map((edit) => {
							const event = eventOf(edit);
							const name = event ? vocabulary.tokens[event.token]?.name : "";
							const words =
								edit.kind === "remove"
									? `without ${name}, ${event ? momentText(clock, event.time) : ""}`
									: edit.kind === "add"
										? `with ${name}, ${momentText(clock, edit.event.time)}`
										: `${name} moved to ${momentText(clock, edit.time)}`;
							return (
								<li key={edit.kind === "add" ? edit.event.id : edit.id} className="chip">
									<span>{words}</span>
									<button
										type="button"
										className="plain"
										aria-label={`Undo: ${words}`}
										onClick={() => onUndo(edit)}
									>
										×
									</button>
								</li>
							);
						})}
					</ul>
					<button type="button" onClick={onReset}>
						As it was
					</button>
				</div>
			)}
		</div>
	);
}
