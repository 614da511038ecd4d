import { type ReactNode, useId, useRef, useState } from "react";
import { csvOf, handOver, pngOf, type Rows, standaloneSvg } from "./copy.js";

interface PanelProps {
	readonly title: string;
	readonly subtitle?: ReactNode;
	readonly children: ReactNode;
	/** What is copied as CSV; the panel's drawing is copied as SVG and PNG. */
	readonly rows?: () => Rows;
	readonly drawing?: boolean;
	readonly className?: string;
	/** Beside the title. */
	readonly tools?: ReactNode;
	readonly busy?: boolean;
}

/** A part of the page with a heading, and what it shows to take away. */
export function Panel(props: PanelProps) {
	const { title, subtitle, children, rows, drawing, className = "", tools, busy } = props;
	const id = useId();
	const ref = useRef<HTMLElement>(null);
	const [said, setSaid] = useState("");
	const name = title
		.toLowerCase()
		.replaceAll(/[^a-z0-9]+/g, "-")
		.replace(/-$/, "");

	const give = async (kind: "png" | "svg" | "csv") => {
		try {
			const svg = ref.current?.querySelector<SVGSVGElement>("svg[data-drawing]");
			const content =
				kind === "csv"
					? new Blob([csvOf(rows?.() ?? [])], { type: "text/csv" })
					: kind === "svg" && svg
						? new Blob([standaloneSvg(svg)], { type: "image/svg+xml" })
						: svg && (await pngOf(standaloneSvg(svg)));
			if (!content) return;
			const done = await handOver(content, `${name}.${kind}`);
			setSaid(done === "copied" ? `${kind.toUpperCase()} copied` : `Saved as ${name}.${kind}`);
		} catch {
			setSaid(`It could not be drawn as ${kind.toUpperCase()}; try SVG`);
		}
		setTimeout(() => setSaid(""), 2500);
	};
	return (
		<section className={`panel ${className}`} aria-labelledby={id} aria-busy={busy} ref={ref}>
			<header className="panel-head">
				<div className="panel-titles">
					<h2 id={id}>{title}</h2>
					{subtitle && <p className="subtitle">{subtitle}</p>}
				</div>
				<div className="panel-tools">
					{tools}
					{(rows || drawing) && (
						<fieldset className="copy" aria-label={`Copy “${title}” as`}>
							<span className="copy-word" aria-hidden="true">
								{said || "Copy"}
							</span>
							{drawing &&
								(["png", "svg"] as const).map((kind) => (
									<button key={kind} type="button" className="small" onClick={() => give(kind)}>
										{kind.toUpperCase()}
									</button>
								))}
							{rows && (
								<button type="button" className="small" onClick={() => give("csv")}>
									CSV
								</button>
							)}
						</fieldset>
					)}
					<span className="hidden" role="status">
						{said}
					</span>
				</div>
			</header>
			{children}
		</section>
	);
}
