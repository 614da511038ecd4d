import { type ComponentProps, useId, useState } from "react";
import type { TimeIs } from "../../../src/data/records/rows.js";
import { knownSystems } from "../../../src/data/records/systems.js";
import {
	type ColumnChoice,
	type ColumnRole,
	columnNames,
	columnRoles,
	columnsText,
	endsText,
	missingChoices,
	neededRoles,
	numberedCodes,
	type TablePreview,
	unitTitles,
	withColumn,
} from "../files/columns.js";
import { Button } from "../parts/button.js";
import { TextTable } from "../parts/table.js";

/** Optional, but risks depend on them. */
const usefulRoles = ["system", "sex", "birth", "birthYear"] as const;
const furtherRoles = ["death", "value", "unit"] as const;

/** Stands before a system that is not a column. */
const systemMark = "system:";

interface ColumnQuestionProps {
	readonly table: TablePreview;
	readonly onColumns: (first: readonly string[], choice: ColumnChoice) => void;
}

/** From which columns a table was read, and the choice of others. */
export function ReadColumns(props: ColumnQuestionProps) {
	const [isAsked, setAsked] = useState(false);
	return (
		<div className="read-columns">
			<p>
				{columnsText(props.table)}{" "}
				<Button className="small" aria-expanded={isAsked} onClick={() => setAsked(!isAsked)}>
					Choose others
				</Button>
			</p>
			{isAsked && <ColumnQuestion {...props} />}
		</div>
	);
}

/** Asks which column of a table is which. */
export function ColumnQuestion({ table, onColumns }: ColumnQuestionProps) {
	const { first, rows } = table;
	const [choice, setChoice] = useState(table.choice);
	const { columns, moreCodes, systemOfAll, timeIs, firstIsRecord = false } = choice;
	const names = columnNames(first, firstIsRecord);
	const shownRows = firstIsRecord ? [first, ...rows] : rows;
	const missing = missingChoices(choice);
	const numbered = numberedCodes(names, columns);
	const titleOf = (column: number): string | undefined => {
		const role = (Object.keys(columnRoles) as ColumnRole[]).find((one) => columns[one] === column);
		if (role) return columnRoles[role].title;
		return moreCodes.includes(column) ? columnRoles.code.title : undefined;
	};
	const take = (role: ColumnRole, value: string) =>
		setChoice(
			value.startsWith(systemMark)
				? {
						...withColumn(names, choice, role, undefined),
						systemOfAll: value.slice(systemMark.length),
					}
				: withColumn(names, choice, role, value === "" ? undefined : Number(value)),
		);
	const select = (role: ColumnRole) => {
		const isNeeded = neededRoles.some((needed) => needed === role);
		const system = role === "system" && systemOfAll ? systemMark + systemOfAll : "";
		return (
			<Choice
				key={role}
				label={columnRoles[role].title}
				value={`${columns[role] ?? system}`}
				required={isNeeded}
				onChange={({ target }) => take(role, target.value)}
			>
				<option value="">{isNeeded ? "choose …" : "none"}</option>
				<optgroup label="Columns">
					{names.map((name, column) => {
						const example = shownRows.map((row) => row[column]).find(Boolean);
						return (
							<option key={column} value={column}>
								{example ? `${name} · ${example}` : name}
							</option>
						);
					})}
				</optgroup>
				{role === "system" && (
					<optgroup label="All codes are">
						{knownSystems.map((one) => (
							<option key={one} value={systemMark + one}>
								{one}
							</option>
						))}
					</optgroup>
				)}
			</Choice>
		);
	};
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
				<Choice
					label="Times are"
					value={timeIs ?? ""}
					onChange={({ target }) => setChoice({ ...choice, timeIs: target.value as TimeIs })}
				>
					{timeIs === null && <option value="">choose</option>}
					{Object.entries(unitTitles).map(([unit, title]) => (
						<option key={unit} value={unit}>
							{title}
						</option>
					))}
				</Choice>
				{usefulRoles.map(select)}
			</div>
			{numbered.length > 0 && (
				<Check
					checked={moreCodes.length > 0}
					onChange={({ target }) =>
						setChoice({ ...choice, moreCodes: target.checked ? numbered : [] })
					}
				>
					also read the codes in {endsText(numbered.map((column) => names[column] as string))}
				</Check>
			)}
			<details open={furtherRoles.some((role) => columns[role] !== undefined)}>
				<summary>Death and measured values, if the file has them</summary>
				<div className="column-fields">{furtherRoles.map(select)}</div>
			</details>
			<TextTable
				caption="The first rows of the file"
				columns={names.map((name, column) => (
					<>
						{name}
						{titleOf(column) && <span className="role">{titleOf(column)}</span>}
					</>
				))}
				rows={shownRows.map((row) => names.map((_, column) => row[column]))}
				isChosen={(column) => titleOf(column) !== undefined}
			/>
			<p className="actions">
				<button type="submit" className="primary" disabled={missing.length > 0}>
					Read the file
				</button>{" "}
				<Check
					checked={firstIsRecord}
					onChange={({ target }) => setChoice({ ...choice, firstIsRecord: target.checked })}
				>
					the first line is a record, not names
				</Check>
			</p>
			<p className="quiet">
				{missing.length > 0
					? `Still to choose: ${missing.join(", ")}.`
					: "The page remembers the columns until it is closed."}
			</p>
		</form>
	);
}

function Choice({ label, ...select }: ComponentProps<"select"> & { readonly label: string }) {
	const id = useId();
	return (
		<div className="field">
			<label htmlFor={id}>{label}</label>
			<select id={id} {...select} />
		</div>
	);
}

const Check = ({ children, ...input }: ComponentProps<"input">) => (
	<label>
		<input type="checkbox" {...input} /> {children}
	</label>
);
