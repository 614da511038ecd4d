import { useMemo } from "react";
import { counted, thousands } from "../../../src/figures/numbers.js";
import { captionOf, groupsOf, Scatter, type ScatterPoint } from "../charts/scatter.js";
import { SymbolMark } from "../charts/symbol-mark.js";
import type { Maps } from "../data/contract.js";
import { Notice } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
import { curveColour } from "./colours.js";

const unlabelled = "patients";

/** A map of the patients by the model's representation of their history. */
export function PatientMap({ patients }: Pick<Maps, "patients">) {
	const points = useMemo(
		() =>
			patients.map(({ x, y, groups }, at): ScatterPoint => {
				const group = groups.join(", ") || unlabelled;
				return { id: `${at}`, x, y, group, name: "a patient", size: 3.2 };
			}),
		[patients],
	);
	const groups = useMemo(
		() => groupsOf(points, (at) => (at === 0 ? "var(--neutral)" : curveColour(at))),
		[points],
	);
	// Smaller groups are drawn on top, and larger.
	const drawn = useMemo(() => {
		const order = groups.map(({ name }) => name);
		return points
			.map((point) => (point.group === order[0] ? point : { ...point, size: 4.4 }))
			.sort((a, b) => order.indexOf(a.group) - order.indexOf(b.group));
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
	const labelled = groups.some(({ name }) => name !== unlabelled);
	return (
		<Panel
			title="Map of the patients"
			subtitle={`${counted(points.length, "patient")} of the test split by the model’s representation of ${labelled ? "their history up to the landmark" : "their history"} (UMAP); the axes have no meaning`}
			drawing
			caption={() => captionOf(groups)}
			rows={() => [["x", "y", "group"], ...points.map(({ x, y, group }) => [x, y, group])]}
		>
			<ul className="legend">
				{groups.map(({ name, count, colour, symbol }) => (
					<li key={name}>
						<SymbolMark symbol={symbol} colour={colour} />
						{name} <span className="quiet">{thousands(count)}</span>
					</li>
				))}
			</ul>
			<Scatter
				points={drawn}
				groups={groups}
				lit={null}
				chosen={null}
				label={`Map of ${points.length} patients: ${groups.map(({ name, count }) => `${count} ${name}`).join(", ")}`}
			/>
		</Panel>
	);
}
