import { yearDays } from "../../base/time.js";
import type { Vocabulary } from "../../cohort/vocabulary.js";
import { rankOf } from "../../evaluate/rank.js";
import type { Clock, DiseaseTrajectory, RiskPicture } from "../../figures/index.js";
import { riskTrajectories } from "../../infer/index.js";
import type { Predictor } from "../../models/index.js";
import { type Chosen, mostLater } from "./chosen.js";

const top = 10;
const riskTimes = 200;
/** How far beyond the last record known the risk is drawn. */
const aheadDays = 3 * yearDays;

/** What is drawn and said of one patient. */
export interface Story {
	readonly trajectory: DiseaseTrajectory;
	readonly picture: RiskPicture;
	/** At the first time drawn and, from the records before, when the target was first recorded. */
	readonly risk: { readonly first: number; readonly last: number };
}

export async function storyOf(
	predictor: Predictor,
	vocabulary: Vocabulary,
	chosen: Chosen,
	axis: Omit<Clock, "birth">,
): Promise<Story> {
	const { history } = chosen;
	const clock: Clock = { ...axis, birth: history.birthEvents ? history.times[0]! : null };
	const trajectory = await trajectoryOf(predictor, vocabulary, chosen, clock);
	return { trajectory, ...(await riskOf(predictor, vocabulary, chosen, clock)) };
}

async function trajectoryOf(
	predictor: Predictor,
	vocabulary: Vocabulary,
	{ history, target, lookUp }: Chosen,
	clock: Clock,
): Promise<DiseaseTrajectory> {
	const { id, tokens, times, birthEvents } = history;
	const cut = birthEvents + lookUp;
	const end = Math.min(tokens.length, cut + mostLater);
	const known = { tokens: tokens.subarray(0, cut), times: times.subarray(0, cut) };
	const later = times.subarray(cut, end);
	const { logProbabilities, vocab } = await predictor.score([known], [later]);
	const event = (at: number) => {
		const { code, name, category } = vocabulary.tokens[tokens[at]!]!;
		return { time: times[at]!, code, name, category };
	};
	return {
		patient: id,
		clock,
		top,
		lookUp: Array.from({ length: lookUp }, (_, at) => event(birthEvents + at)),
		forecast: Array.from(later, (_, at) => ({
			...event(cut + at),
			matched:
				rankOf(logProbabilities.subarray(at * vocab, (at + 1) * vocab), tokens[cut + at]!) < top,
		})),
		targets: target.tokens.map((token) => vocabulary.tokens[token]!.code),
	};
}

/** From all that was recorded before the target was: what could have been said until then, and for some time on. */
async function riskOf(
	predictor: Predictor,
	vocabulary: Vocabulary,
	{ history, target, recordedAt }: Chosen,
	clock: Clock,
): Promise<Pick<Story, "picture" | "risk">> {
	const { id, tokens, times, birthEvents } = history;
	const end = recordedAt ?? tokens.length;
	const known = { tokens: tokens.subarray(0, end), times: times.subarray(0, end) };
	const [from, now] = [known.times[birthEvents] ?? known.times[0]!, known.times.at(-1)!];
	const to = Math.max(now, recordedAt === undefined ? now : times[recordedAt]!) + aheadDays;
	const asked = Float64Array.from(
		{ length: riskTimes },
		(_, at) => from + ((to - from) * at) / (riskTimes - 1),
	);
	const [own] = await riskTrajectories(predictor, [known], [target.tokens], [asked]);
	const [curve] = own!;
	const when = recordedAt === undefined ? now : times[recordedAt]!;
	const last = asked.findLastIndex((time) => time <= when);
	return {
		picture: {
			patient: id,
			clock,
			now,
			events: [...known.times.subarray(birthEvents)],
			curves: [
				{
					...curve!,
					code: target.code,
					name: target.name,
					surges: curve!.surges.map((surge) => ({
						...surge,
						phenotypes: surge.events.map((event) => vocabulary.tokens[tokens[event]!]!.name),
					})),
				},
			],
		},
		risk: { first: curve!.risk[0]!, last: curve!.risk[Math.max(0, last)]! },
	};
}
