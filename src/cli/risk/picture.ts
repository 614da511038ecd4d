import type { RiskPicture } from "../../figures/index.js";
import type { Edits } from "./edits.js";
import type { RiskWords } from "./json.js";
import type { CodeRisk } from "./risks.js";
import { phenotypesIn } from "./text.js";

/** Risks as a drawing takes them. */
export function pictureOf(risks: readonly CodeRisk[], words: RiskWords): RiskPicture {
	const { question, axis } = words;
	const { whatIf: edits } = question;
	const { id, birth, history } = question.patient;
	const times = history.times.subarray(history.birthEvents);
	const curves = risks.map(({ code: { code, name }, trajectory }) => ({
		...trajectory,
		code,
		name,
		surges: trajectory.surges.map((surge) => ({
			...surge,
			phenotypes: phenotypesIn(surge.events, words, (token) => token.name),
		})),
	}));
	const changed = risks.flatMap(({ code: { code, name }, whatIf }) =>
		whatIf ? [{ ...whatIf, code, name }] : [],
	);
	return {
		patient: id,
		clock: { axis, birth },
		curves,
		...(edits && { whatIf: { name: shortName(edits), curves: changed } }),
		events: [...times],
		now: times.at(-1) ?? (question.times[0] as number),
	};
}

/** What one line of a drawing has room for. */
const shortName = ({ name, edits }: Edits): string =>
	name.length <= 60
		? name
		: `with ${edits.length} ${edits.length === 1 ? "event" : "events"} changed`;
