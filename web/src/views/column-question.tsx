import { useId, useState } from "react";
import type { TimeIs } from "../../../src/data/records/rows.js";
import { knownSystems } from "../../../src/data/records/systems.js";
import {
	columnsText,
	endsText,
	missingChoices,
	moreCodesOf,
	roleNames,
	type TablePreview,
	unitNames,
	withColumn,
	withFirstLine,
} from "../files/column-choice.js";
import {
	type ColumnChoice,
	type ColumnRole,
	columnNames,
	columnRoles,
	neededRoles,
} from "../files/csv-columns.js";
import { ScrollTable } from "../parts/table.js";

/** Optional, but risks depend on them. */
const usefulRoles = ["system", "sex", "birth", "birthYear"] as const;
const furtherRoles = ["death", "value", "unit"] as const;

/** From which columns a table was read, and the choice of others. */
export function ReadColumns(props: ColumnQuestionProps) {
	const [isAsked, setAsked] = useState(false);
	return (
		<div className="read-columns">
			<p>
				{columnsText(props.table.choice)}{" "}
				<button
					type="button"
					className="small"
					aria-expanded={isAsked}
					onClick={() => setAsked(!isAsked)}
				>
					Choose others
				</button>
			</p>
			{isAsked && <ColumnQuestion {...props} />}
		</div>
	);
}

interface ColumnQuestionProps {
	readonly table: TablePreview;
	readonly onColumns: (first: readonly string[], choice: ColumnChoice) => void;
}

/** Asks which column of a table is which. */
export function ColumnQuestion({
	table: { first, rows, choice: given },
	onColumns,
}: ColumnQuestionProps) {
	const [choice, setChoice] = useState(given);
	const names = columnNames(first, choice.firstIsRecord);
	const shownRows = choice.firstIsRecord ? [first, ...rows] : rows;
	const missing = missingChoices(choice);
	const roleOf = (name: string): ColumnRole | undefined =>
		columnRoles.find((role) => choice.columns[role] === name) ??
		(choice.moreCodes?.includes(name) ? "code" : undefined);
	const { moreCodes: numbered = [] } = moreCodesOf(names, choice.columns);
	const select = (role: ColumnRole) => (
		<ColumnSelect
			key={role}
			role={role}
			names={names}
			example={(at) => shownRows.map((row) => row[at]).find(Boolean) ?? ""}
			choice={choice}
			onChoice={setChoice}
		/>
	);
	return (
		<form
			className="column-question"
			onSubmit={(event) => {
				event.preventDefault();
				if (missing.length === 0) onColumns(first, choice);
			}}
		>
			<div className="column-fields">
				{neededRoles.map(select)}
				<UnitSelect choice={choice} onChoice={setChoice} />
				{usefulRoles.map(select)}
			</div>
			{numbered.length > 0 && (
				<label>
					<input
						type="checkbox"
						checked={choice.moreCodes !== undefined}
						onChange={({ target: { checked } }) => {
							const { moreCodes: _, ...rest } = choice;
							setChoice(checked ? { ...rest, moreCodes: numbered } : rest);
						}}
					/>{" "}
					also read the codes in {endsText(numbered)}
				</label>
			)}
			<details open={furtherRoles.some((role) => choice.columns[role] !== undefined)}>
				<summary>Death and measured values, if the file has them</summary>
				<div className="column-fields">{furtherRoles.map(select)}</div>
			</details>
			<ScrollTable label="The first rows of the file" wide>
				<caption>The first rows of the file</caption>
				<thead>
					<tr>
						{names.map((name) => {
							const role = roleOf(name);
							return (
								<th key={name} scope="col" className={role && "chosen"}>
									{name}
									{role && <span className="role">{roleNames[role]}</span>}
								</th>
							);
						})}
					</tr>
				</thead>
				<tbody>
					{shownRows.map((row, line) => (
						<tr key={line}>
							{names.map((name, at) => (
								<td key={name} className={roleOf(name) && "chosen"}>
									{row[at]}
								</td>
							))}
						</tr>
					))}
				</tbody>
			</ScrollTable>
			<p className="actions">
				<button type="submit" className="primary" disabled={missing.length > 0}>
					Read the file
				</button>{" "}
				<label>
					<input
						type="checkbox"
						checked={choice.firstIsRecord ?? false}
						onChange={(event) => setChoice(withFirstLine(choice, first, event.target.checked))}
					/>{" "}
					the first line is a record, not names
				</label>
			</p>
			<p className="quiet">
				{missing.length > 0
					? `Still to choose: ${missing.join(", ")}.`
					: "The page remembers the columns until it is closed."}
			</p>
		</form>
	);
}

interface SelectProps {
	readonly choice: ColumnChoice;
	readonly onChoice: (choice: ColumnChoice) => void;
}

/** Stands before a system that is not a column. */
const systemMark = "system:";

function ColumnSelect({
	role,
	names,
	example,
	choice,
	onChoice,
}: SelectProps & {
	readonly role: ColumnRole;
	readonly names: readonly string[];
	readonly example: (at: number) => string;
}) {
	const id = useId();
	const { columns, systemOfAll } = choice;
	const isNeeded = neededRoles.some((needed) => needed === role);
	const own = columns[role];
	const value =
		own === undefined && role === "system" && systemOfAll ? systemMark + systemOfAll : (own ?? "");
	const take = (chosen: string) =>
		onChoice(
			chosen.startsWith(systemMark) && role === "system"
				? {
						...withColumn(names, choice, role, undefined),
						systemOfAll: chosen.slice(systemMark.length),
					}
				: withColumn(names, choice, role, chosen || undefined),
		);
	return (
		<div className="field">
			<label htmlFor={id}>{roleNames[role]}</label>
			<select
				id={id}
				value={value}
				required={isNeeded}
				onChange={(event) => take(event.target.value)}
			>
				<option value="">{isNeeded ? "choose …" : "none"}</option>
				<optgroup label="Columns">
					{names.map((name, at) => (
						<option key={name} value={name}>
							{name}
							{example(at) && ` · ${example(at)}`}
						</option>
					))}
				</optgroup>
				{role === "system" && (
					<optgroup label="All codes are">
						{knownSystems.map((system) => (
							<option key={system} value={systemMark + system}>
								{system}
							</option>
						))}
					</optgroup>
				)}
			</select>
		</div>
	);
}

function UnitSelect({ choice, onChoice }: SelectProps) {
	const id = useId();
	return (
		<div className="field">
			<label htmlFor={id}>Times are</label>
			<select
				id={id}
				value={choice.timeIs ?? ""}
				onChange={(event) => onChoice({ ...choice, timeIs: event.target.value as TimeIs })}
			>
				{choice.timeIs === null && <option value="">choose</option>}
				{Object.entries(unitNames).map(([unit, name]) => (
					<option key={unit} value={unit}>
						{name}
					</option>
				))}
			</select>
		</div>
	);
}
