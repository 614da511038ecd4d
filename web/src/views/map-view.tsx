import type { RatesByAgeAndSex } from "../../../src/data/cohort/age-sex-rates.js";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import type { RunningExport } from "../../../src/predict/browser/open-export.js";
import type { Maps } from "../data/contract.js";
import type { Patient } from "../data/patient.js";
import { useJson } from "../data/use-json.js";
import type { Loaded } from "../data/use-loaded.js";
import { useOnMap } from "../engine/use-on-map.js";
import { Notice } from "../parts/notice.js";
import { WhenLoaded } from "../parts/when-loaded.js";
import { CodeMap } from "./code-map.js";
import { PatientMap } from "./patient-map.js";

interface MapViewProps {
	readonly vocabulary: Vocabulary | null;
	readonly codes: readonly number[];
	readonly onCode: (token: number, on: boolean) => void;
	readonly samples: readonly Patient[];
	/** The current patient and date. */
	readonly patient: Patient | null;
	readonly date: number;
	readonly clock: Clock | null;
	readonly modelState: Loaded<RunningExport>;
	readonly rates: RatesByAgeAndSex | null;
	readonly onOpen: (patient: Patient) => void;
}

/** Maps of the codes and of the patients. */
export function MapView({ vocabulary, ...props }: MapViewProps) {
	const maps = useJson<Maps>("explorer/maps.json");
	return (
		<WhenLoaded loaded={maps} what="the maps">
			{(value) =>
				vocabulary ? (
					<BothMaps maps={value} vocabulary={vocabulary} {...props} />
				) : (
					<Notice kind="loading" title="Loading the maps…" />
				)
			}
		</WhenLoaded>
	);
}

interface BothMapsProps extends MapViewProps {
	readonly maps: Maps;
	readonly vocabulary: Vocabulary;
}

function BothMaps(props: BothMapsProps) {
	const { maps, vocabulary, codes, onCode, samples, patient, date, clock, onOpen } = props;
	const { modelState, rates } = props;
	const onMap = useOnMap(modelState, rates, maps, vocabulary, patient, date);
	return (
		<>
			<CodeMap
				{...{ maps, vocabulary, codes, onCode, clock, onMap }}
				patient={patient?.name ?? null}
			/>
			<PatientMap {...{ maps, samples, patient, onOpen }} here={onMap?.here ?? null} />
		</>
	);
}
