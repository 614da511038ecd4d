import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import { percent } from "../../../src/figures/numbers.js";
import type { RiskRequest, Risks } from "../engine/use-risks.js";
import type { Answer } from "../engine/use-when-idle.js";
import { Notice } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
import { codeName } from "./code-name.js";

interface NewDiagnosesPanelProps {
	/** Null until there are predictions. */
	readonly request: RiskRequest | null;
	readonly answer: Answer<RiskRequest, Risks> | null;
	readonly vocabulary: Vocabulary;
	readonly colourOf: (token: number) => string | undefined;
	readonly onCode: (token: number, on: boolean) => void;
}

/** The diagnoses most likely to be recorded for the first time within a year. */
export function NewDiagnosesPanel(props: NewDiagnosesPanelProps) {
	const { request, answer, vocabulary, colourOf, onCode } = props;
	const found = answer && "risks" in answer.outcome ? answer.outcome.likely : null;
	const most = Math.max(1e-6, ...(found ?? []).map(({ probability }) => probability));
	return (
		<Panel
			title="Likely new diagnoses"
			subtitle={`first records within a year${found?.some(({ sameAgeAndSex }) => sameAgeAndSex !== null) ? "; grey: people of this age and sex" : ""}; click one to follow its risk`}
			className="new-diagnoses"
			state={!found || answer?.request === request ? "current" : "updating"}
			{...(found && {
				rows: () => [
					["code", "name", "within 1 year", "people of this age and sex"],
					...found.map(({ token, probability, sameAgeAndSex }) => [
						...[vocabulary.tokens[token]?.code ?? "", codeName(vocabulary, token)],
						...[probability, sameAgeAndSex ?? ""],
					]),
				],
			})}
		>
			{answer && "failed" in answer.outcome ? (
				<p>The risks could not be computed: {answer.outcome.failed}</p>
			) : !found ? (
				<Notice kind="loading" title="Computing…" />
			) : (
				<ol className="ranked">
					{found.map(({ token, probability, sameAgeAndSex }) => {
						const colour = colourOf(token);
						return (
							<li key={token}>
								<button
									type="button"
									aria-pressed={colour !== undefined}
									title={codeName(vocabulary, token)}
									style={{ "--own": colour ?? "var(--line)" } as React.CSSProperties}
									onClick={() => onCode(token, colour === undefined)}
								>
									<span
										className="likely-bar"
										style={{ width: `${(100 * probability) / most}%` }}
										aria-hidden="true"
									/>
									<span className="likely-name">{codeName(vocabulary, token)}</span>
									<span className="likely-value">
										{percent(probability)}
										{sameAgeAndSex !== null && (
											<span className="quiet same-age-number">
												<span className="hidden">people of this age and sex: </span>
												{percent(sameAgeAndSex)}
											</span>
										)}
									</span>
								</button>
							</li>
						);
					})}
				</ol>
			)}
		</Panel>
	);
}
