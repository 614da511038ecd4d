import { useMemo, useState } from "react";
import { thousands } from "../../../src/base/thousands.js";
import { counted } from "../../../src/evaluate/charts/numbers.js";
import { captionOf, groupsOf, Scatter, type ScatterPoint } from "../charts/scatter.js";
import { SymbolMark } from "../charts/symbol-mark.js";
import type { MapPatient, Maps } from "../data/contract.js";
import type { Patient } from "../data/patient.js";
import { nearestSample } from "../engine/map-place.js";
import type { OnMap } from "../engine/use-on-map.js";
import { Notice } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
import { ColourChoice } from "./colour-choice.js";
import { curveColour, levelColour } from "./colours.js";
import { ageBins, recordBins } from "./map-groups.js";

interface PatientMapProps {
	readonly maps: Maps;
	readonly samples: readonly Patient[];
	/** The current patient; null if there is none. */
	readonly patient: Patient | null;
	readonly here: OnMap["here"];
	readonly onOpen: (patient: Patient) => void;
}

const unknown = "unknown";

const groupings: Readonly<
	Record<string, { readonly of: (one: MapPatient) => string; readonly order?: readonly string[] }>
> = {
	outcome: { of: ({ outcome }) => outcome ?? "no label" },
	age: {
		of: ({ age }) => (age === null ? unknown : ageBins.groupOf(age)),
		order: [...ageBins.order, unknown],
	},
	sex: { of: ({ sex }) => sex ?? unknown },
	records: { of: ({ records }) => recordBins.groupOf(records), order: recordBins.order },
};

/** a patient, female, age 61, 43 records */
const personText = ({ sex, age, records }: MapPatient, name: string): string =>
	[
		name,
		...(sex ? [sex] : []),
		...(age === null ? [] : [`age ${age}`]),
		counted(records, "record"),
	].join(", ");

interface PersonProps extends Pick<PatientMapProps, "maps" | "onOpen"> {
	/** The place of the chosen patient; null if there is none. */
	readonly at: number | null;
	readonly names: ReadonlyMap<string | null, Patient>;
}

/** Says why a patient cannot be opened, and who can be instead. */
function Person({ maps, at, names, onOpen }: PersonProps) {
	const one = at === null ? undefined : maps.patients[at];
	const like = one && names.get(nearestSample(maps, at as number));
	return (
		<p className="map-person" role="status">
			{one ? (
				<>
					<span>
						<strong>{personText(one, "A patient")}.</strong> Only the {names.size} samples can be
						opened: the page has the records of no one else.
						{like && ` Most like this patient among them: ${like.name}.`}
					</span>
					{like && (
						<button type="button" className="small" onClick={() => onOpen(like)}>
							Open {like.name}
						</button>
					)}
				</>
			) : (
				<span className="quiet">
					Click a ring to open that sample, or another patient to find the sample most like them.
				</span>
			)}
		</p>
	);
}

/** A map of the patients by the model's representation of their history. */
export function PatientMap({ maps, samples, patient, here, onOpen }: PatientMapProps) {
	const { patients, outcome } = maps;
	const [colour, setColour] = useState(outcome === null ? "age" : "outcome");
	const { of, order } = groupings[colour] as (typeof groupings)[string];
	const names = useMemo(() => new Map(samples.map((one) => [one.sample, one] as const)), [samples]);
	const [chosen, setChosen] = useState<string | null>(null);
	const points = useMemo(
		() =>
			patients.map((one, at): ScatterPoint => {
				const opened = names.get(one.sample ?? null);
				const person = personText(one, opened?.name ?? "a patient");
				return {
					...{ id: `${at}`, x: one.x, y: one.y, group: of(one), size: opened ? 5 : 3.2 },
					name: opened ? `${person}: click to open` : person,
					ringed: opened !== undefined,
				};
			}),
		[patients, names, of],
	);
	const groups = useMemo(
		() =>
			order
				? groupsOf(points, levelColour, order)
				: groupsOf(points, (at) => (at === 0 ? "var(--neutral)" : curveColour(at))),
		[points, order],
	);
	// Smaller groups are drawn on top, and openable patients above them.
	const drawn = useMemo(() => {
		const place = new Map(groups.map(({ name, count }) => [name, -count]));
		const rank = ({ group, ringed }: ScatterPoint) => (ringed ? 1 : (place.get(group) ?? 0));
		return points.toSorted((a, b) => rank(a) - rank(b));
	}, [points, groups]);
	if (points.length === 0)
		return (
			<Notice kind="empty" title="No map of the patients">
				<p>
					The map needs the run’s dataset. Patients that are not simulated are shown only after{" "}
					<code>trajgpt serve RUN --samples</code>.
				</p>
			</Notice>
		);
	const sampleAt = (id: string) => names.get(patients[Number(id)]?.sample ?? "");
	return (
		<Panel
			title="Map of the patients"
			subtitle={`${counted(points.length, "patient")} of the test split by the model’s representation of their history${outcome === null ? "" : ` up to the landmark of the task “${outcome}”`} (UMAP); the axes have no meaning. Rings: samples.${here && patient ? ` The pin shows ${patient.name} on the date of the Patient view.` : ""}`}
			drawing
			caption={() => captionOf(groups)}
			rows={() => [
				["x", "y", "outcome", "age", "sex", "records"],
				...patients.map(({ x, y, outcome, age, sex, records }) => [
					...[x, y, outcome, age, sex, records],
				]),
			]}
			tools={
				<ColourChoice
					colour={colour}
					colours={{
						...(outcome !== null && { outcome: `outcome: ${outcome}` }),
						...{ age: "age", sex: "sex", records: "records" },
					}}
					onColour={setColour}
				/>
			}
		>
			<ul className="legend">
				{groups.map(({ name, count, colour, symbol }) => (
					<li key={name}>
						<SymbolMark symbol={symbol} colour={colour} />
						{name} <span className="quiet">{thousands(count)}</span>
					</li>
				))}
			</ul>
			<Person {...{ maps, names, onOpen }} at={chosen === null ? null : Number(chosen)} />
			<Scatter
				points={drawn}
				groups={groups}
				lit={null}
				chosen={chosen}
				here={here && patient && { ...here, name: `${patient.name} is here` }}
				prefers={(id) => sampleAt(id) !== undefined}
				onChoose={(id) => {
					const opened = sampleAt(id);
					if (opened) onOpen(opened);
					else setChosen(id);
				}}
				label={`Map of ${points.length} patients: ${groups.map(({ name, count }) => `${count} ${name}`).join(", ")}`}
			/>
		</Panel>
	);
}
