import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import type { Clock } from "../../../src/figures/clock.js";
import type { Patient } from "../data/patient.js";
import type { QueryResult } from "../engine/query-runner.js";
import { Panel } from "../parts/panel.js";
import type { Edit } from "../state/edits.js";
import { EditBar } from "./edit-bar.js";

interface EditPanelProps {
	readonly patient: Patient;
	readonly edits: readonly Edit[];
	readonly result: QueryResult | null;
	readonly date: number;
	readonly vocabulary: Vocabulary;
	readonly clock: Clock;
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
