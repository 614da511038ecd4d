import { percent } from "../../../src/evaluate/charts/numbers.js";
import { usualYears } from "../../../src/predict/user-input/moments.js";
import { curveSize, RiskAxis, RiskCurve } from "../charts/risk-curve.js";
import type { RiskScale } from "../charts/risk-scale.js";
import { afterYears, curveDays } from "../engine/risks.js";
import { withBrokenLines } from "../parts/caption.js";
import { markedDays } from "./risk-row.js";
import type { ShownRisk } from "./risk-rows.js";

interface RiskDrawingProps {
	readonly shown: readonly ShownRisk[];
	readonly nameOf: (token: number) => string;
	/** A time in words. */
	readonly timeText: (time: number) => string;
	readonly colourOf: (token: number) => string;
	readonly longest: number;
	readonly scale: RiskScale;
}

const [width, nameWidth, head, rowHeight, column] = [720, 240, 24, 66, 94];
const numbersAt = nameWidth + curveSize.width + 10;

/** The risks as a figure to save; on the page, a table shows them. */
export function RiskDrawing(props: RiskDrawingProps) {
	const { shown, nameOf, timeText, colourOf, longest, scale } = props;
	const x = (at: number) => numbersAt + (at + 1) * column - 12;
	return (
		<svg
			data-drawing
			className="off-screen"
			width={width}
			height={head + shown.length * rowHeight + 6}
			aria-hidden="true"
		>
			<g transform={`translate(${nameWidth} 0)`}>
				<RiskAxis scale={scale} />
			</g>
			{usualYears.map((years, at) => (
				<text key={years} className="drawing-text" x={x(at)} y={13} textAnchor="end">
					{`${years} ${years === 1 ? "year" : "years"}`}
				</text>
			))}
			{shown.map(({ risk, before, truth }, row) => {
				const lines = [
					{ words: "", own: risk.curve },
					{ words: "was ", own: before?.recordedAt === null ? before.curve : null },
					{ words: "others ", own: risk.sameAgeAndSex },
					{ words: "true ", own: truth },
				].filter(({ own }) => own);
				return (
					<g key={risk.token} transform={`translate(0 ${head + row * rowHeight})`}>
						{withBrokenLines([{ text: nameOf(risk.token), paragraph: true }], nameWidth).map(
							({ text }, line) => (
								<text
									key={text}
									className="drawing-name"
									x={12}
									y={20 + line * 16}
									style={{ fill: colourOf(risk.token) }}
								>
									{text}
								</text>
							),
						)}
						{risk.recordedAt !== null ? (
							<text className="drawing-text" x={nameWidth + 30} y={20}>
								already recorded, {timeText(risk.recordedAt)}
							</text>
						) : (
							<>
								<g transform={`translate(${nameWidth} 4)`}>
									<RiskCurve
										{...{ curve: risk.curve, colour: colourOf(risk.token), scale }}
										days={curveDays(longest)}
										marked={markedDays(longest)}
										before={before?.recordedAt === null ? before.curve : undefined}
										sameAgeAndSex={risk.sameAgeAndSex ?? undefined}
										truth={truth ?? undefined}
									/>
								</g>
								{usualYears.map((years, at) =>
									lines.map(({ words, own }, line) => (
										<text
											key={`${years} ${words}`}
											className={line === 0 ? "drawing-name" : "drawing-text"}
											x={x(at)}
											y={14 + line * 15}
											textAnchor="end"
										>
											{`${words}${percentAfter(own, years)}`}
										</text>
									)),
								)}
							</>
						)}
					</g>
				);
			})}
		</svg>
	);
}

const percentAfter = (curve: readonly number[] | null, years: number) => {
	const risk = curve ? afterYears(curve, years) : undefined;
	return risk === undefined ? "–" : percent(risk);
};
