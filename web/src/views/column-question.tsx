import { useId, useState } from "react";
import { knownSystems } from "../../../src/records/systems.js";
import type { TimeIs } from "../../../src/records/tables/column-names.js";
import {
	type ColumnChoice,
	type ColumnRole,
	columnNames,
	columnRoles,
	likelyUnit,
	neededRoles,
} from "../files/csv-columns.js";
import type { TablePreview } from "../files/table-preview.js";
import { ScrollTable } from "../parts/scroll-table.js";

const roleNames: Readonly<Record<ColumnRole, string>> = {
	patient: "Patient id",
	time: "Date",
	code: "Code",
	system: "Code system",
	sex: "Sex",
	birth: "Date of birth",
	death: "Date of death",
	value: "Measured value",
	unit: "Unit of the value",
};
/** Optional, but risks depend on them. */
const usefulRoles = ["system", "sex", "birth"] as const;
const furtherRoles = ["death", "value", "unit"] as const;

const unitNames: Readonly<Record<TimeIs, string>> = {
	date: "dates",
	"age-years": "ages in years",
	"age-days": "ages in days",
	days: "days",
	hours: "hours",
	minutes: "minutes",
};

/** The choice after a column is given a role, which it takes from any other. */
export function withColumn(
	choice: ColumnChoice,
	role: ColumnRole,
	name: string | undefined,
): ColumnChoice {
	const others = Object.entries(choice.columns).filter(
		([other, column]) => other !== role && column !== name,
	);
	return {
		...choice,
		columns: Object.fromEntries(name === undefined ? others : [...others, [role, name]]),
		...(role === "time" && name !== undefined && { timeIs: likelyUnit(name) }),
		...(role === "system" && { systemOfAll: undefined }),
	};
}

/** The choice if the first line is a record, or is not: the columns stay, their names change. */
export function withFirstLine(
	choice: ColumnChoice,
	first: readonly string[],
	isRecord: boolean,
): ColumnChoice {
	const before = columnNames(first, choice.firstIsRecord);
	const after = columnNames(first, isRecord);
	const columns = Object.entries(choice.columns).map(([role, name]) => [
		role,
		after[before.indexOf(name)],
	]);
	return { ...choice, columns: Object.fromEntries(columns), firstIsRecord: isRecord };
}

/** What is still to be chosen, in words. */
export function missingChoices({ columns, timeIs }: ColumnChoice): readonly string[] {
	const missing = neededRoles.filter((role) => columns[role] === undefined);
	return [
		...missing.map((role) => roleNames[role].toLowerCase()),
		...(timeIs === null ? ["what the times are"] : []),
	];
}

/** Patient id from MRN, date from Seen (dates), code from Dx. */
function columnsText({ columns, timeIs, systemOfAll }: ColumnChoice): string {
	const parts = columnRoles.flatMap((role) => {
		const name = columns[role];
		const unit = role === "time" && timeIs ? ` (${unitNames[timeIs]})` : "";
		return name === undefined ? [] : [`${roleNames[role].toLowerCase()} from ${name}${unit}`];
	});
	const text = [...parts, ...(systemOfAll ? [`all codes are of ${systemOfAll}`] : [])].join(", ");
	return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

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
	const roleOf = (name: string) => columnRoles.find((role) => choice.columns[role] === name);
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
				? { ...withColumn(choice, role, undefined), systemOfAll: chosen.slice(systemMark.length) }
				: withColumn(choice, role, chosen || undefined),
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
				<option value="">{isNeeded ? "choose a column" : "none"}</option>
				<optgroup label="Columns">
					{names.map((name, at) => (
						<option key={name} value={name}>
							{name}
							{example(at) && ` · ${example(at)}`}
						</option>
					))}
				</optgroup>
				{role === "system" && (
					<optgroup label="All codes are of">
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
