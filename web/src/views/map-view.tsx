import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import type { Maps } from "../data/contract.js";
import { useJson } from "../data/use-json.js";
import { Notice } from "../parts/notice.js";
import { WhenLoaded } from "../parts/when-loaded.js";
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
	return (
		<WhenLoaded loaded={maps} what="the maps">
			{(value) =>
				vocabulary ? (
					<>
						<CodeMap maps={value} vocabulary={vocabulary} codes={codes} onCode={onCode} />
						<PatientMap patients={value.patients} />
					</>
				) : (
					<Notice kind="loading" title="Loading the maps…" />
				)
			}
		</WhenLoaded>
	);
}
