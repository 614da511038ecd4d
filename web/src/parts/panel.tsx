import { type ReactNode, useContext, useId, useRef } from "react";
import type { Caption } from "./caption.js";
import { csvOf, pngOf, type Rows, standaloneSvg, take, type Way } from "./copy.js";
import { factsText, PictureContext } from "./picture-facts.js";
import { type FileKind, SaveMenu } from "./save-menu.js";
import { useTransientText } from "./use-transient-text.js";

/** Whether the content is current; or outdated, because an update is running or has failed. */
export interface PanelState {
	readonly state: "current" | "updating" | "failed";
}

interface PanelProps extends Partial<PanelState> {
	readonly title: string;
	readonly subtitle?: ReactNode;
	readonly children: ReactNode;
	/** Content to save as CSV; the panel's drawing is saved as SVG and PNG. */
	readonly rows?: () => Rows;
	readonly drawing?: boolean;
	/** The legend of the saved drawing; on the page it is part of the panel. */
	readonly caption?: () => Caption;
	readonly className?: string;
	/** Next to the title. */
	readonly tools?: ReactNode;
}

const pictures = ["png", "svg"] as const;

/** A section of the page with a heading and a menu to take its content away. */
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

	const facts = useContext(PictureContext);
	/** The definition, the legend, and where the numbers come from. */
	const heading = () => ({
		title,
		caption: [
			...(typeof subtitle === "string" ? [{ text: subtitle, paragraph: true }] : []),
			...(caption?.() ?? []),
			{ text: factsText(facts), paragraph: true },
		],
	});

	const give = async (kind: FileKind, way: Way) => {
		if (state === "updating") return say("Wait for the update");
		try {
			const svg = ref.current?.querySelector<SVGSVGElement>("svg[data-drawing]");
			const drawn = () => svg && standaloneSvg(svg, heading());
			const content =
				kind === "csv"
					? new Blob([csvOf(rows?.() ?? [])], { type: "text/csv" })
					: kind === "svg"
						? new Blob([drawn() ?? ""], { type: "image/svg+xml" })
						: await pngOf(drawn() ?? "");
			const done = await take(content, `${name}.${kind}`, way);
			say(done === "copied" ? `${kind.toUpperCase()} copied` : `Saved as ${name}.${kind}`);
		} catch {
			say(`Could not be saved as ${kind.toUpperCase()}; try SVG`);
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
						<SaveMenu
							title={title}
							kinds={[...(drawing ? pictures : []), ...(rows ? (["csv"] as const) : [])]}
							onSave={give}
						/>
					)}
					<span className={said ? "quiet" : "hidden"} role="status">
						{said}
					</span>
				</div>
			</header>
			<div className="panel-body">{children}</div>
		</section>
	);
}
