import { type ReactNode, useId, useRef } from "react";
import type { Caption } from "./caption.js";
import { copyOrSave, csvOf, pngOf, type Rows, standaloneSvg } from "./copy.js";
import { useTransientText } from "./use-transient-text.js";

/** Whether the content is current; or outdated, because an update is running or has failed. */
export interface PanelState {
	readonly state: "current" | "updating" | "failed";
}

interface PanelProps extends Partial<PanelState> {
	readonly title: string;
	readonly subtitle?: ReactNode;
	readonly children: ReactNode;
	/** Content to copy as CSV; the panel's drawing is copied as SVG and PNG. */
	readonly rows?: () => Rows;
	readonly drawing?: boolean;
	/** The legend for copies of the drawing; on the page it is part of the panel. */
	readonly caption?: () => Caption;
	readonly className?: string;
	/** Next to the title. */
	readonly tools?: ReactNode;
}

/** A section of the page with a heading and copy buttons. */
export function Panel(props: PanelProps) {
	const { title, subtitle, children, rows, drawing, className = "", tools } = props;
	const { caption, state = "current" } = props;
	const id = useId();
	const ref = useRef<HTMLElement>(null);
	const [said, say] = useTransientText();
	const name = title
		.toLowerCase()
		.replaceAll(/[^a-z0-9]+/g, "-")
		.replace(/-$/, "");

	const give = async (kind: "png" | "svg" | "csv") => {
		try {
			const svg = ref.current?.querySelector<SVGSVGElement>("svg[data-drawing]");
			const drawn = () => svg && standaloneSvg(svg, caption && { title, caption: caption() });
			const content =
				kind === "csv"
					? new Blob([csvOf(rows?.() ?? [])], { type: "text/csv" })
					: kind === "svg"
						? new Blob([drawn() ?? ""], { type: "image/svg+xml" })
						: await pngOf(drawn() ?? "");
			const done = await copyOrSave(content, `${name}.${kind}`);
			say(done === "copied" ? `${kind.toUpperCase()} copied` : `Saved as ${name}.${kind}`);
		} catch {
			say(`Could not be copied as ${kind.toUpperCase()}; try SVG`);
		}
	};
	return (
		<section
			className={`panel panel-${state} ${className}`}
			aria-labelledby={id}
			aria-busy={state === "updating"}
			ref={ref}
		>
			{state === "updating" && (
				<span className="updating">
					<span className="spinner" aria-hidden="true" /> updating…
				</span>
			)}
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
			<div className="panel-body">{children}</div>
		</section>
	);
}
