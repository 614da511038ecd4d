import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import { type Clock, timeName } from "../../../src/evaluate/charts/clock.js";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import { usualYears } from "../../../src/predict/user-input/moments.js";
import { curveSize, RiskCurve } from "../charts/risk-curve.js";
import type { RiskScale } from "../charts/risk-scale.js";
import { afterYears, type CodeRisk, curveDays } from "../engine/risks.js";
import { codeName } from "./code-name.js";

interface RiskRowProps {
	readonly risk: CodeRisk;
	readonly before: CodeRisk | undefined;
	/** True risks at the days of the curve. */
	readonly truth: readonly number[] | null;
	readonly vocabulary: Vocabulary;
	readonly clock: Clock;
	readonly colour: string;
	readonly longest: number;
	readonly scale: RiskScale;
	readonly onRemove: () => void;
}

/** The risk of one code: its curve, and its numbers at the horizons. */
export function RiskRow(props: RiskRowProps) {
	const { risk, before, truth, vocabulary, clock, colour, longest, scale, onRemove } = props;
	const { token, recordedAt, curve, sameAgeAndSex } = risk;
	const name = codeName(vocabulary, token);
	const was = before?.recordedAt === null ? before : undefined;
	return (
		<tr data-token={token}>
			<th scope="row">
				<div className="risk-name">
					<span style={{ color: colour }}>{name}</span>
					<button
						type="button"
						className="plain"
						aria-label={`Leave out ${name}`}
						onClick={onRemove}
					>
						×
					</button>
				</div>
			</th>
			{recordedAt !== null ? (
				<td className="recorded" colSpan={1 + usualYears.length}>
					already recorded, {timeName(clock, recordedAt)}
					{before?.recordedAt === null && ", in the edited history"}
				</td>
			) : (
				<>
					<td className="risk-picture">
						<svg width={curveSize.width} height={curveSize.height} aria-hidden="true">
							<RiskCurve
								{...{ curve, colour, scale }}
								days={curveDays(longest)}
								marked={markedDays(longest)}
								before={was?.curve}
								sameAgeAndSex={sameAgeAndSex ?? undefined}
								truth={truth ?? undefined}
							/>
						</svg>
					</td>
					{usualYears.map((years) => (
						<td
							key={years}
							className="number"
							data-risk={afterYears(curve, years)}
							data-label={`${years} y`}
						>
							{was && <Change before={was.curve} after={curve} years={years} />}
							<strong>{shownAs(curve, years)}</strong>
							{was && <span className="was">{wasText(was.curve, curve, years)}</span>}
							{sameAgeAndSex && !was && (
								<span className="same-age-number">
									<span className="hidden">people of this age and sex: </span>
									{shownAs(sameAgeAndSex, years)}
								</span>
							)}
							{truth && (
								<span className="truth-number">
									<span className="hidden">true risk: </span>
									{shownAs(truth, years)}
								</span>
							)}
						</td>
					))}
				</>
			)}
		</tr>
	);
}

/** The days of the horizons that the model can answer, as the curve has them. */
export const markedDays = (longest: number) =>
	usualYears.flatMap((years) => {
		const day = afterYears(curveDays(longest), years);
		return day === undefined ? [] : [{ day, name: `${years} y` }];
	});

interface Curves {
	readonly before: readonly number[];
	readonly after: readonly number[];
	readonly years: number;
}

/** Points up or down if the number that is shown has changed. */
function Change({ before, after, years }: Curves) {
	if (shownAs(before, years) === shownAs(after, years)) return null;
	const isHigher = (afterYears(after, years) ?? 0) > (afterYears(before, years) ?? 0);
	return (
		<em className={`change ${isHigher ? "up" : "down"}`} aria-hidden="true">
			{isHigher ? "▲" : "▼"}
		</em>
	);
}

/** What the risk was before the edits. */
function wasText(before: readonly number[], after: readonly number[], years: number): string {
	const was = shownAs(before, years);
	return was === shownAs(after, years) ? "as before" : `was ${was}`;
}

function shownAs(curve: readonly number[], years: number): string {
	const risk = afterYears(curve, years);
	return risk === undefined ? "–" : percent(risk);
}
