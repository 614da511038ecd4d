import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import type { Maps } from "../data/contract.js";
import { useJson } from "../data/use-json.js";
import { Notice } from "../parts/notice.js";
import { CodeMap } from "./code-map.js";
import { PatientMap } from "./patient-map.js";

interface MapViewProps {
	readonly vocabulary: Vocabulary | null;
	readonly codes: readonly number[];
	readonly onCode: (token: number, on: boolean) => void;
}

/** Maps of the codes and of the patients. */
export function MapView({ vocabulary, codes, onCode }: MapViewProps) {
	const maps = useJson<Maps>("explorer/maps.json");
	if (maps.state === "error")
		return (
			<Notice kind="error" title="The maps could not be loaded">
				<p>{maps.message}</p>
			</Notice>
		);
	if (maps.state === "loading" || !vocabulary)
		return <Notice kind="loading" title="Loading the maps…" />;
	return (
		<>
			<CodeMap maps={maps.value} vocabulary={vocabulary} codes={codes} onCode={onCode} />
			<PatientMap patients={maps.value.patients} />
		</>
	);
}
