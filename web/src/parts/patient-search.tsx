import { thousands } from "../../../src/base/thousands.js";
import { counted } from "../../../src/evaluate/charts/numbers.js";
import type { PatientList } from "../files/patient-list.js";
import { Combobox } from "./combobox.js";

interface PatientSearchProps {
	readonly patients: PatientList;
	/** The place of the patient on the screen, if it is of this list. */
	readonly chosen: number | undefined;
	readonly onPick: (place: number) => void;
}

const mostShown = 50;

/** A search field for the patients of a file by id. */
export const PatientSearch = ({ patients, chosen, onPick }: PatientSearchProps) => (
	<Combobox
		className="patient-search"
		label={`of ${thousands(patients.length)} patients`}
		placeholder="search by id"
		value={chosen === undefined ? undefined : patients.nameAt(chosen)}
		choicesFor={(text) =>
			patients.find(text, mostShown).places.map((place) => ({
				key: place,
				content: patients.nameAt(place),
				remark: counted(patients.eventsAt(place), "event"),
			}))
		}
		onPick={onPick}
		noneFor={(text) => `No id contains “${text}”.`}
		status={(text) => {
			const { count } = patients.find(text, 0);
			return `${counted(count, "patient")}${count > mostShown ? `; the first ${mostShown} are listed: type more of the id` : ""}`;
		}}
	/>
);
