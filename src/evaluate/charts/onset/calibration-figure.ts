import type { OnsetDetails } from "../../evaluation.js";
import { calibrationPanel } from "../calibration-figure.js";
import type { Figure } from "../figure.js";
import { percent } from "../numbers.js";
import { type FigureSize, widthOf } from "../theme.js";
import { inRows } from "./in-rows.js";

type Horizon = OnsetDetails["horizons"][number];

interface CalibratedHorizon extends Pick<Horizon, "years" | "codes" | "calibration"> {
	/** Mean distance of predicted and observed risk, as a share. */
	readonly error: number | undefined;
}

/** Observed against predicted risk of first records in tenths of predicted risk, one panel per horizon. */
export function onsetCalibrationFigure(
	horizons: readonly CalibratedHorizon[],
	{ size = "wide" }: { readonly size?: FigureSize } = {},
): Figure {
	const panels = horizons.map(({ years, codes, calibration, error }) => {
		const bins = calibration.flatMap(({ observed, low, high, ...bin }) =>
			observed === null ? [] : [{ ...bin, observed, low: low ?? observed, high: high ?? observed }],
		);
		const panel = calibrationPanel(
			{ name: "", bins, error: undefined },
			{ wide: 340, half: 205, narrow: 290 }[size],
		);
		return {
			...panel,
			title: `within ${years} ${years === 1 ? "year" : "years"}`,
			subtitle: `${codes} codes${error === undefined ? "" : `; weighted calibration error ${(100 * error).toFixed(2)} points`}`,
		};
	});
	return {
		title: "Do predicted risks come true?",
		subtitle: "observed against predicted risk of a first record, in tenths of predicted risk",
		description: horizons
			.map(({ years, calibration }) => {
				const top = calibration.at(-1);
				return `Within ${years} years, the highest tenth: predicted ${percent(top?.predicted ?? 0)}, observed ${percent(top?.observed ?? 0)}.`;
			})
			.join(" "),
		width: widthOf(size),
		rows: inRows(panels, size === "narrow" ? 1 : 2),
		notes: [
			size === "half"
				? "All codes together. Upright lines are 95 % intervals."
				: "All codes together: each person counts once per code. Upright lines are 95 % intervals, which take the codes of one person as independent.",
		],
	};
}
