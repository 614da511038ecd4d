import { useId, useMemo } from "react";
import type { Figure } from "../../../src/evaluate/charts/figure.js";
import { svgOf } from "../../../src/evaluate/charts/svg.js";
import { darkRules, type FigureSize, theme } from "../../../src/evaluate/charts/theme.js";
import { useWidth } from "../parts/hooks.js";

/** A figure of the report, in the size that fits. */
export function Drawing({ draw }: { readonly draw: (size: FigureSize) => Figure }) {
	const [ref, width] = useWidth<HTMLElement>();
	const ids = useId();
	const size = width < 480 ? "narrow" : width < theme.width ? "half" : "wide";
	const svg = useMemo(() => {
		if (width === 0) return "";
		recolourWhenDark();
		return svgOf(draw(size), document, { ids }).replace("<svg ", "<svg data-drawing ");
	}, [draw, size, width === 0, ids]);
	// `svgOf` escapes all texts.
	return <figure className="drawing" ref={ref} dangerouslySetInnerHTML={{ __html: svg }} />;
}

let isRecoloured = false;

/** Adds the rules once, from the script: the page's policy allows no style sheet in a document. */
function recolourWhenDark(): void {
	if (isRecoloured) return;
	const sheet = new CSSStyleSheet({ media: "(prefers-color-scheme: dark)" });
	sheet.replaceSync(darkRules);
	document.adoptedStyleSheets.push(sheet);
	isRecoloured = true;
}
